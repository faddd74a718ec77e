#include "codegen/unroll.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "codegen/cost.hpp"
#include "codegen/definitions.hpp"
#include "codegen/join.hpp"
#include "codegen/stack.hpp"

namespace oriel::codegen {
namespace {

// The most instructions that the inner points become.
constexpr std::size_t kMostInstructions = 192;
// Fewer outer points do not fill the registers.
constexpr std::int64_t kFewestPoints = 32;

std::int64_t product(const Ints& extents) {
  std::int64_t n = 1;
  for (const SymInt e : extents) n *= e.value();
  return n;
}

/// Are elements of every argument that the loops read needed at several points? Rows that are read once are reduced in
/// the order of memory.
bool reads_again(const LoopProgram& program, const Stage& stage, std::int64_t points) {
  bool loads = false;
  for (const Instr& in : stage.body) {
    if (in.code == Code::Gather || in.code == Code::Store) return false;
    if (in.code != Code::Load) continue;
    const Access& access = program.accesses[static_cast<std::size_t>(in.aux)];
    loads = true;
    if (program.arguments[static_cast<std::size_t>(access.buffer)].elements > points / 2) return false;
  }
  return loads;
}

/// Rows of a power of two fill registers as they lie in memory. Of those that number their points even long ones do
/// better as instructions, because their positions become constants.
bool fills_registers(const LoopProgram& program, std::int64_t terms) {
  if ((terms & (terms - 1)) != 0) return false;
  const bool numbered = std::ranges::any_of(program.stages, [](const Stage& stage) {
    return std::ranges::any_of(stage.body, [](const Instr& in) { return in.code == Code::Index; });
  });
  return terms < kMostUnrolled || !numbered;
}

class Unroller {
 public:
  explicit Unroller(const LoopProgram& program) : from_(program), out_(program) {}

  LoopProgram run() {
    out_.stages.assign(1, Stage{});
    for (const Stage& stage : from_.stages) {
      unroll(stage);
      append(stage.outer);
    }
    drop_unused_accesses(out_);
    std::string name = out_.name;
    finish(out_);
    out_.name = std::move(name);
    return std::move(out_);
  }

 private:
  std::vector<Instr>& list() { return out_.stages[0].outer; }
  void append(const std::vector<Instr>& instructions) {
    for (Instr in : instructions) {
      for (ValueId* operand : {&in.a, &in.b, &in.c}) *operand = renamed(*operand, outside_);
      list().push_back(in);
    }
  }

  using Renamed = std::vector<std::pair<ValueId, ValueId>>;

  // A stage without inner loops has one point.
  void unroll(const Stage& stage) {
    const auto points = static_cast<std::size_t>(product(stage.inner));
    std::vector<std::vector<ValueId>> terms(stage.reductions.size());
    // A body may read what an earlier stage computed at the same point.
    if (made_.size() < points) made_.resize(points);
    for (std::size_t p = 0; p < points; ++p) {
      for (const Instr& in : stage.body) {
        const ValueId value = at_point(stage, in, p);
        if (in.result != kNoValue) made_[p].emplace_back(in.result, value);
      }
      for (std::size_t r = 0; r < terms.size(); ++r) terms[r].push_back(at_point(stage.reductions[r].input, p));
    }
    for (std::size_t r = 0; r < terms.size(); ++r) combine(stage.reductions[r], std::move(terms[r]));
  }

  static ValueId renamed(ValueId v, const Renamed& made) {
    for (const auto& [old, now] : made)
      if (old == v) return now;
    return v;
  }

  /// What a body calls `v`, at inner point p.
  ValueId at_point(ValueId v, std::size_t p) const { return renamed(renamed(v, made_[p]), outside_); }

  /// The instruction at inner point p. What is the same at an earlier point is not computed again.
  ValueId at_point(const Stage& stage, Instr in, std::size_t p) {
    for (ValueId* operand : {&in.a, &in.b, &in.c}) *operand = at_point(*operand, p);
    if (has_access(in)) in.aux = access_at(stage, in.aux, static_cast<std::int64_t>(p));
    in.result = kNoValue;
    if (in.code == Code::Store) {
      list().push_back(in);
      return kNoValue;
    }
    for (const auto& [known, value] : known_)
      if (known == in) return value;
    const Instr key = in;
    in.result = value_of(in.dtype);
    known_.emplace_back(key, in.result);
    list().push_back(in);
    return in.result;
  }

  ValueId value_of(DType dtype) {
    out_.values.push_back(dtype);
    return static_cast<ValueId>(out_.values.size()) - 1;
  }

  /// The access over the outer loops at inner point p.
  std::int32_t access_at(const Stage& stage, std::int32_t number, std::int64_t p) {
    const Access& access = from_.accesses[static_cast<std::size_t>(number)];
    const ShapeTracker& stack = stack_of(access);
    Ranges ranges;
    Shape outer;
    for (std::size_t d = 0; d < from_.outer.size(); ++d) {
      ranges.push_back({0, from_.outer[d]});
      outer.push_back(from_.outer[d]);
    }
    std::int64_t rest = p;
    for (std::size_t d = stage.inner.size(); d-- > 0;) {
      const std::int64_t n = stage.inner[d].value();
      ranges.insert(ranges.begin() + static_cast<std::ptrdiff_t>(outer.size()), Range{rest % n, rest % n + 1});
      rest /= n;
    }
    const Access made(access.buffer, access.dtype, stack.shrink(ranges).reshape(outer));
    for (std::size_t a = from_.accesses.size(); a < out_.accesses.size(); ++a) {
      const Access& other = out_.accesses[a];
      if (other.buffer == made.buffer && other.dtype == made.dtype && stack_of(other) == stack_of(made))
        return static_cast<std::int32_t>(a);
    }
    out_.accesses.push_back(made);
    return static_cast<std::int32_t>(out_.accesses.size()) - 1;
  }

  /// Lane r of a reduction holds term r, and lanes are combined by halves (backend/eigen/tile/README.md).
  void combine(const Reduction& reduction, std::vector<ValueId> lanes) {
    const DType dtype = reduction.dtype;
    // A lane of a sum begins with 0, so that no sum of floats is -0.
    const bool starts = graph::row(reduction.op).starts && is_floating(dtype);
    for (std::size_t half = kMostUnrolled / 2; half >= 1; half /= 2) {
      const bool last = half == 1 && !starts;
      for (std::size_t k = 0; k < half && k + half < lanes.size(); ++k)
        lanes[k] = joined(reduction, lanes[k], lanes[k + half], last ? reduction.result : value_of(dtype));
      if (lanes.size() > half) lanes.resize(half);
    }
    if (!starts) {
      // One term is the result itself.
      if (lanes[0] != reduction.result) outside_.emplace_back(reduction.result, lanes[0]);
      return;
    }
    out_.constants.push_back({graph::Scalar::of_int(dtype, 0), -1});
    Instr zero;
    zero.code = Code::Const;
    zero.dtype = zero.from = dtype;
    zero.result = value_of(dtype);
    zero.aux = static_cast<std::int32_t>(out_.constants.size()) - 1;
    list().push_back(zero);
    joined(reduction, lanes[0], zero.result, reduction.result);
  }

  ValueId joined(const Reduction& reduction, ValueId a, ValueId b, ValueId result) {
    Instr in;
    in.op = graph::row(reduction.op).combination;
    in.dtype = in.from = reduction.dtype;
    in.a = a;
    in.b = b;
    in.result = result;
    list().push_back(in);
    return result;
  }

  const LoopProgram& from_;
  LoopProgram out_;
  std::vector<Renamed> made_;  // by inner point
  Renamed outside_;            // results of reductions of one term
  std::vector<std::pair<Instr, ValueId>> known_;
};

}  // namespace

bool unrolled_for_compilers(const LoopProgram& program) {
  constexpr std::int64_t short_line = 16, few_terms = 8;
  const auto* reduction = std::get_if<PlainReduction>(&program.form);
  return program.outer.back() >= short_line || reduction == nullptr ||
         product(program.stages[reduction->stage].inner) <= few_terms;
}

std::optional<LoopProgram> unrolled(const LoopProgram& program) {
  const auto* reduction = std::get_if<PlainReduction>(&program.form);
  if (reduction == nullptr && !std::holds_alternative<Rows>(program.form)) return std::nullopt;
  if (parts_of(program) > 1 || program.online) return std::nullopt;
  std::size_t instructions = 0;
  for (const Stage& stage : program.stages) {
    if (!stage.columns.empty()) return std::nullopt;
    if (stage.inner.empty()) continue;
    if (reduction != nullptr && &stage != &program.stages[reduction->stage]) return std::nullopt;
    const std::int64_t terms = product(stage.inner);
    if (terms < 2 || terms > kMostUnrolled) return std::nullopt;
    if (reduction == nullptr && fills_registers(program, terms)) return std::nullopt;
    instructions += (stage.body.size() + stage.reductions.size()) * static_cast<std::size_t>(terms);
    // What is reduced is computed in the loops.
    for (const Reduction& r : stage.reductions) {
      const bool body =
          std::any_of(stage.body.begin(), stage.body.end(), [&](const Instr& in) { return in.result == r.input; });
      if (!body && reduction != nullptr) return std::nullopt;
    }
  }
  const std::int64_t points = product(program.outer);
  if (instructions == 0 || instructions > kMostInstructions || points < kFewestPoints) return std::nullopt;
  if (reduction != nullptr) {
    const Stage& stage = program.stages[reduction->stage];
    if (stage.reductions.empty() || !reads_again(program, stage, points * product(stage.inner))) return std::nullopt;
  }
  return Unroller(program).run();
}

}  // namespace oriel::codegen
