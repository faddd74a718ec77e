#include "codegen/bounds.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>

#include "codegen/definitions.hpp"
#include "sym/interval.hpp"

namespace oriel::codegen {

using graph::Op;

namespace {

constexpr int kDeepest = 64;  // the most levels of instructions below a value that are examined
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Integers up to this magnitude are exact as doubles.
constexpr std::int64_t kExact = std::int64_t{1} << 53;

/// A value is a number from lo to hi, or perhaps NaN. The numbers may be floats as well as integers, so 0.5 and -inf
/// are ends too. Positions are computed as integers (sym::Interval).
struct Bounds {
  double lo = -kInfinity;
  double hi = kInfinity;
  bool nan = true;
  bool exactly(double x) const { return lo == x && hi == x && !nan; }
};

/// The bounds of an integer. An end that a double may not hold exactly becomes a wider one: rounding would make
/// different integers equal.
Bounds bounds_of(sym::Interval range) {
  const auto exact = [](std::int64_t end) { return static_cast<double>(std::clamp(end, -kExact, kExact)); };
  return {range.lo < -kExact ? -kInfinity : exact(range.lo), range.hi > kExact ? kInfinity : exact(range.hi), false};
}

}  // namespace

class Bounder::Impl {
 public:
  Impl(const LoopProgram& program, std::span<const graph::Scalar> parameters)
      : program_(program),
        parameters_(parameters),
        definitions_(definitions_of(program)),
        known_(program.values.size()) {}

  void look_at(std::span<const IndexRange> box) {
    box_.clear();
    for (const IndexRange span : box) box_.push_back({span.begin, span.end - 1});
    std::fill(known_.begin(), known_.end(), std::nullopt);
  }
  bool may_hide() const {
    return std::any_of(definitions_.begin(), definitions_.end(), [&](const Instr* in) {
      return in != nullptr && in->code == Code::Const && constant(*in).exactly(-kInfinity);
    });
  }

  // Each value is looked at once, because many instructions may read it.
  Bounds of(ValueId v, int depth) {
    std::optional<Bounds>& known = known_[static_cast<std::size_t>(v)];
    if (!known) {
      const Instr* in = definitions_[static_cast<std::size_t>(v)];
      const Bounds found = in == nullptr || depth > kDeepest ? Bounds{} : of(in, depth);
      known_[static_cast<std::size_t>(v)] = found;
    }
    return *known_[static_cast<std::size_t>(v)];
  }

 private:
  Bounds of(const Instr* in, int depth) {
    switch (in->code) {
      case Code::Const:
        return constant(*in);
      case Code::Index:
        return position(program_.accesses[static_cast<std::size_t>(in->aux)]);
      case Code::Valid:
        return valid(program_.accesses[static_cast<std::size_t>(in->aux)]);
      case Code::Elementwise:
        return computed(*in, depth);
      default:
        return {};
    }
  }

  static Bounds truth(bool never, bool always) { return {always ? 1.0 : 0.0, never ? 0.0 : 1.0, false}; }

  Bounds constant(const Instr& in) const {
    const Constant& c = program_.constants[static_cast<std::size_t>(in.aux)];
    graph::Scalar value = c.value;
    if (c.parameter >= 0) {
      if (static_cast<std::size_t>(c.parameter) >= parameters_.size()) return {};
      value = parameters_[static_cast<std::size_t>(c.parameter)].cast(c.value.dtype);
    }
    if (is_floating(value.dtype)) return {value.f, value.f, std::isnan(value.f)};
    // A uint64 of 2^63 or more is held as a negative pattern.
    if (value.dtype == DType::uint64 && value.i < 0) return {static_cast<double>(kExact), kInfinity, false};
    return bounds_of(sym::Interval::point(value.i));
  }

  // The part of the box that a view's mask lets through: none of it, all of it, or some.
  Bounds valid(const Access& access) const {
    if (!access.affine()) return truth(false, false);
    bool never = false;
    bool always = true;
    for (std::size_t d = 0; access.boxed() && d < access.loops(); ++d) {
      const sym::Interval span = d < box_.size() ? box_[d] : sym::Interval{0, access.extent(d) - 1};
      const sym::Interval seen = sym::intersect(span, {access.begin(d), access.end(d) - 1});
      never = never || seen.empty();
      always = always && seen == span;
    }
    return truth(never, always);
  }

  Bounds position(const Access& access) const {
    if (!access.affine()) return {0, kInfinity, false};
    const Bounds inside = valid(access);
    if (inside.exactly(0)) return {0, 0, false};
    if (!inside.exactly(1)) return {0, kInfinity, false};
    sym::Interval at = sym::Interval::point(access.offset());
    for (std::size_t d = 0; d < access.loops() && d < box_.size(); ++d) {
      at = at + sym::Interval::point(access.coefficient(d)) * box_[d];
    }
    return bounds_of(at);
  }

  // Integers below 2^53 are exact as doubles and in int64 and float64. Other arithmetic has unknown bounds.
  static bool exact(const Instr& in, const Bounds& b) {
    return (in.dtype == DType::int64 || in.dtype == DType::float64) && std::abs(b.lo) < 0x1p53 &&
           std::abs(b.hi) < 0x1p53 && !b.nan;
  }

  Bounds computed(const Instr& in, int depth) {
    const auto operand = [&](ValueId v) { return of(v, depth + 1); };
    switch (in.op) {
      case Op::Lt:
      case Op::Le: {
        const Bounds a = operand(in.a);
        const Bounds b = operand(in.b);
        if (a.nan || b.nan) return {0, 1, false};
        return in.op == Op::Lt ? truth(a.lo >= b.hi, a.hi < b.lo) : truth(a.lo > b.hi, a.hi <= b.lo);
      }
      case Op::Eq:
      case Op::Ne: {
        const Bounds a = operand(in.a);
        const Bounds b = operand(in.b);
        if (a.nan || b.nan) return {0, 1, false};
        const bool apart = a.hi < b.lo || b.hi < a.lo;
        const bool equal = a.lo == a.hi && b.lo == b.hi && a.lo == b.lo;
        return in.op == Op::Eq ? truth(apart, equal) : truth(equal, apart);
      }
      case Op::And:
      case Op::Or: {
        if (in.dtype != DType::bool_) return {};
        const Bounds a = operand(in.a);
        const Bounds b = operand(in.b);
        if (in.op == Op::And) return truth(a.hi == 0 || b.hi == 0, a.lo == 1 && b.lo == 1);
        return truth(a.hi == 0 && b.hi == 0, a.lo == 1 || b.lo == 1);
      }
      case Op::Not: {
        if (in.dtype != DType::bool_) return {};
        const Bounds a = operand(in.a);
        return truth(a.lo == 1, a.hi == 0);
      }
      case Op::Add:
      case Op::Sub: {
        const Bounds a = operand(in.a);
        const Bounds b = operand(in.b);
        const bool add = in.op == Op::Add;
        const Bounds sum{add ? a.lo + b.lo : a.lo - b.hi, add ? a.hi + b.hi : a.hi - b.lo, a.nan || b.nan};
        return exact(in, a) && exact(in, b) && exact(in, sum) ? sum : Bounds{};
      }
      case Op::Where: {
        const Bounds choice = operand(in.a);
        if (choice.exactly(1)) return operand(in.b);
        if (choice.exactly(0)) return operand(in.c);
        const Bounds b = operand(in.b);
        const Bounds c = operand(in.c);
        return {std::min(b.lo, c.lo), std::max(b.hi, c.hi), b.nan || c.nan};
      }
      case Op::Cast: {
        const Bounds a = operand(in.a);
        // A bool keeps its value in every dtype; an integer keeps it in a dtype that holds it.
        if (in.from == DType::bool_) return a;
        return exact(in, a) && (in.from == DType::int64 || in.from == DType::int32) ? a : Bounds{};
      }
      default:
        return {};
    }
  }

  const LoopProgram& program_;
  std::vector<sym::Interval> box_;
  const std::span<const graph::Scalar> parameters_;
  const std::vector<const Instr*> definitions_;
  std::vector<std::optional<Bounds>> known_;
};

Bounder::Bounder(const LoopProgram& program, std::span<const graph::Scalar> parameters)
    : impl_(std::make_unique<Impl>(program, parameters)) {}
Bounder::~Bounder() = default;

void Bounder::look_at(std::span<const IndexRange> box) { impl_->look_at(box); }
bool Bounder::hidden(ValueId value) { return impl_->of(value, 0).exactly(-kInfinity); }
bool Bounder::always(ValueId value, bool truth) { return impl_->of(value, 0).exactly(truth ? 1 : 0); }
bool Bounder::may_hide() const { return impl_->may_hide(); }

namespace {

class Settler {
 public:
  /// `program` must outlive it.
  explicit Settler(const LoopProgram& program)
      : definitions_(definitions_of(program)),
        inner_(program.values.size(), false),
        by_positions_(program.values.size(), false) {
    for (const Stage& stage : program.stages) {
      for (const Instr& in : stage.body) {
        if (in.result != kNoValue) inner_[at(in.result)] = true;
        look_at(in);
      }
      for (const Instr& in : stage.outer) look_at(in);
    }
  }

  /// Replaces every choice that can be settled by one of its sides. Between two constants, `truth` selects the side;
  /// the choice stays if `truth` is empty.
  void run(SettledChoices& out, std::optional<bool> truth) {
    std::vector<ValueId> instead(definitions_.size());
    for (std::size_t v = 0; v < instead.size(); ++v) instead[v] = static_cast<ValueId>(v);
    for (const Stage& stage : out.program.stages) {
      for (const Instr& in : stage.body) {
        if (in.code != Code::Elementwise || in.op != Op::Where || !by_positions_[at(in.a)]) continue;
        const bool b = is_constant(in.b);
        const bool c = is_constant(in.c);
        if (b == c && (!b || !truth)) continue;
        const bool side = b == c ? *truth : c;
        const ValueId taken = side ? in.b : in.c;
        // The readers expect an inner value.
        if (!inner_[at(taken)]) continue;
        out.choices.push_back({in.a, side});
        instead[at(in.result)] = taken;
      }
    }
    // The side that was taken may itself be a choice that was replaced.
    const auto settle = [&](ValueId& v) {
      while (v != kNoValue && instead[at(v)] != v) v = instead[at(v)];
    };
    for (Stage& stage : out.program.stages) {
      each_instruction(stage, [&](Instr& in) { each_operand(in, settle); });
      for (Reduction& r : stage.reductions) settle(r.input);
    }
    read_again(out.program);
    drop_unread(out.program);
  }

 private:
  static std::size_t at(ValueId v) { return static_cast<std::size_t>(v); }
  const Instr* definition(ValueId v) const { return v == kNoValue ? nullptr : definitions_[at(v)]; }
  bool is_constant(ValueId v) const { return definition(v) != nullptr && definition(v)->code == Code::Const; }

  void look_at(const Instr& in) {
    if (in.result == kNoValue) return;
    const ValueId operands[] = {in.a, in.b, in.c};
    by_positions_[at(in.result)] =
        in.code == Code::Index || in.code == Code::Valid || in.code == Code::Const ||
        (in.code == Code::Elementwise && std::all_of(std::begin(operands), std::end(operands),
                                                     [&](ValueId v) { return v == kNoValue || by_positions_[at(v)]; }));
  }

  /// Rows keep computed values only. A stage that would read another stage's loaded value loads it again.
  void read_again(LoopProgram& program) const {
    for (Stage& stage : program.stages) {
      std::vector<Instr> body;
      std::vector<ValueId> here(definitions_.size(), kNoValue);  // the stage's own values
      for (const Instr& in : stage.body)
        if (in.result != kNoValue) here[at(in.result)] = in.result;
      const std::function<void(ValueId&)> own = [&](ValueId& v) {
        if (v == kNoValue || !inner_[at(v)] || computed(*definition(v))) return;
        if (here[at(v)] == kNoValue) {
          Instr again = *definition(v);
          own(again.a);
          again.result = here[at(v)] = static_cast<ValueId>(program.values.size());
          program.values.push_back(program.values[at(v)]);
          body.push_back(again);
        }
        v = here[at(v)];
      };
      for (Instr in : stage.body) {
        each_operand(in, own);
        body.push_back(in);
      }
      for (Reduction& r : stage.reductions) own(r.input);
      stage.body = std::move(body);
    }
  }
  static bool computed(const Instr& in) { return in.code == Code::Elementwise || in.code == Code::Round; }

  static void drop_unread(LoopProgram& program) {
    std::vector<bool> read(program.values.size(), false);
    const auto sweep = [&](std::vector<Instr>& list) {
      std::vector<Instr> left;
      for (std::size_t k = list.size(); k-- > 0;) {
        const Instr& in = list[k];
        if (in.result != kNoValue && !read[at(in.result)]) continue;
        each_operand(in, [&](ValueId v) { read[at(v)] = true; });
        left.push_back(in);
      }
      list.assign(left.rbegin(), left.rend());
    };
    for (std::size_t s = program.stages.size(); s-- > 0;) {
      Stage& stage = program.stages[s];
      sweep(stage.outer);
      for (const Reduction& r : stage.reductions) read[at(r.input)] = true;
      sweep(stage.body);
    }
  }

  std::vector<const Instr*> definitions_;
  std::vector<bool> inner_;
  std::vector<bool> by_positions_;  // known without memory
};

}  // namespace

std::vector<SettledChoices> settle_choices(const LoopProgram& program) {
  SettledChoices one{{}, program};
  Settler(program).run(one, std::nullopt);
  std::vector<SettledChoices> out;
  for (const bool truth : {true, false}) {
    SettledChoices both = one;
    Settler(one.program).run(both, truth);
    if (both.choices.size() > one.choices.size()) out.push_back(std::move(both));
  }
  if (out.empty() && !one.choices.empty()) out.push_back(std::move(one));
  return out;
}

}  // namespace oriel::codegen
