#include "codegen/unroll.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "codegen/cost.hpp"
#include "codegen/join.hpp"
#include "codegen/stack.hpp"
#include "codegen/unused.hpp"

namespace oriel::codegen {
namespace {

// The most instructions that the inner points become.
constexpr std::size_t kMostInstructions = 128;
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

class Unroller {
 public:
  Unroller(const LoopProgram& program, std::size_t stage)
      : from_(program), looped_(program.stages[stage]), out_(program) {}

  LoopProgram run() {
    out_.stages.assign(1, Stage{});
    for (const Stage& stage : from_.stages) {
      if (&stage == &looped_)
        unroll();
      else
        append(stage.body);  // of one point
      append(stage.outer);
    }
    out_.form = Elementwise{};
    LoweredKernel kernel;
    kernel.program = std::move(out_);
    drop_unused_accesses(kernel);
    std::string name = kernel.program.name;
    finish(kernel.program);
    kernel.program.name = std::move(name);
    return std::move(kernel.program);
  }

 private:
  std::vector<Instr>& list() { return out_.stages[0].outer; }
  void append(const std::vector<Instr>& instructions) {
    list().insert(list().end(), instructions.begin(), instructions.end());
  }

  void unroll() {
    const std::int64_t points = product(looped_.inner);
    std::vector<std::vector<ValueId>> terms(looped_.reductions.size());
    for (std::int64_t p = 0; p < points; ++p) {
      std::vector<std::pair<ValueId, ValueId>> made;
      for (const Instr& in : looped_.body) made.emplace_back(in.result, at_point(in, p, made));
      for (std::size_t r = 0; r < terms.size(); ++r) terms[r].push_back(renamed(looped_.reductions[r].input, made));
    }
    for (std::size_t r = 0; r < terms.size(); ++r) combine(looped_.reductions[r], std::move(terms[r]));
  }

  static ValueId renamed(ValueId v, const std::vector<std::pair<ValueId, ValueId>>& made) {
    for (const auto& [old, now] : made)
      if (old == v) return now;
    return v;
  }

  /// The instruction at inner point p. What is the same at an earlier point is not computed again.
  ValueId at_point(Instr in, std::int64_t p, const std::vector<std::pair<ValueId, ValueId>>& made) {
    for (ValueId* operand : {&in.a, &in.b, &in.c}) *operand = renamed(*operand, made);
    if (has_access(in)) in.aux = access_at(in.aux, p);
    in.result = kNoValue;
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
  std::int32_t access_at(std::int32_t number, std::int64_t p) {
    const Access& access = from_.accesses[static_cast<std::size_t>(number)];
    const ShapeTracker& stack = stack_of(access);
    Ranges ranges;
    Shape outer;
    for (std::size_t d = 0; d < from_.outer.size(); ++d) {
      ranges.push_back({0, from_.outer[d]});
      outer.push_back(from_.outer[d]);
    }
    std::int64_t rest = p;
    for (std::size_t d = looped_.inner.size(); d-- > 0;) {
      const std::int64_t n = looped_.inner[d].value();
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
    if (!starts) return;
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
  const Stage& looped_;
  LoopProgram out_;
  std::vector<std::pair<Instr, ValueId>> known_;
};

}  // namespace

bool unrolled_for_compilers(const LoopProgram& program) {
  constexpr std::int64_t short_line = 16, few_terms = 8;
  const Stage& stage = program.stages[std::get<PlainReduction>(program.form).stage];
  return program.outer.back() >= short_line || product(stage.inner) <= few_terms;
}

std::optional<LoopProgram> unrolled(const LoopProgram& program) {
  const auto* reduction = std::get_if<PlainReduction>(&program.form);
  if (reduction == nullptr || parts_of(program) > 1 || program.running) return std::nullopt;
  const Stage& stage = program.stages[reduction->stage];
  for (const Stage& other : program.stages)
    if (!other.columns.empty() || (&other != &stage && !other.inner.empty())) return std::nullopt;
  const std::int64_t terms = product(stage.inner);
  if (terms < 2 || terms > kMostUnrolled || stage.reductions.empty()) return std::nullopt;
  if (stage.body.size() * static_cast<std::size_t>(terms) > kMostInstructions) return std::nullopt;
  const std::int64_t points = product(program.outer);
  if (points < kFewestPoints || !reads_again(program, stage, points * terms)) return std::nullopt;
  // What is reduced is computed in the loops.
  for (const Reduction& r : stage.reductions) {
    const bool body =
        std::any_of(stage.body.begin(), stage.body.end(), [&](const Instr& in) { return in.result == r.input; });
    if (!body) return std::nullopt;
  }
  return Unroller(program, reduction->stage).run();
}

}  // namespace oriel::codegen
