#include "codegen/contraction.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "codegen/definitions.hpp"
#include "codegen/stack.hpp"
#include "oriel/error.hpp"
#include "schedule/loops.hpp"
#include "view/stacks/questions.hpp"

namespace oriel::codegen {

using graph::Op;

namespace {

/// Along which outer loops two values of a stage vary, and whether instructions alone make them.
class Factors {
 public:
  Factors(const LoopProgram& program, std::size_t stage) : program_(program), stage_(stage) {
    for (std::vector<bool>& loops : varies_) loops.assign(program.outer.size(), false);
  }

  const std::vector<bool>& varies(int side) const { return varies_[side]; }

  /// The instruction that makes `v`; null for a reduction's result.
  const Instr* maker(ValueId v) const {
    const Instr* found = nullptr;
    each_before([&](const Instr& in) {
      if (in.result == v) found = &in;
      return found == nullptr;
    });
    return found;
  }

  /// One pass from consumers to producers. False if a factor needs a reduction's result.
  bool follow(ValueId left, ValueId right) {
    sides_.assign(program_.values.size(), 0);
    need(left, 1);
    need(right, 2);
    each_before([&](const Instr& in) {
      if (in.result == kNoValue || sides_[static_cast<std::size_t>(in.result)] == 0) return true;
      const std::uint8_t sides = sides_[static_cast<std::size_t>(in.result)];
      --open_;
      for (const ValueId operand : {in.a, in.b, in.c})
        if (operand != kNoValue) need(operand, sides);
      if (reads(in)) meet(program_.accesses[static_cast<std::size_t>(in.aux)], sides);
      return true;
    });
    return open_ == 0;
  }

 private:
  /// Calls `f` for the instructions that may make values of the stage's body, the last one first, while it returns
  /// true.
  template <class F>
  void each_before(const F& f) const {
    const auto walk = [&](const std::vector<Instr>& list) {
      for (auto in = list.rbegin(); in != list.rend(); ++in)
        if (!f(*in)) return false;
      return true;
    };
    if (!walk(program_.stages[stage_].body)) return;
    for (std::size_t s = stage_; s-- > 0;)
      if (!walk(program_.stages[s].outer) || !walk(program_.stages[s].body)) return;
  }
  void need(ValueId v, std::uint8_t sides) {
    std::uint8_t& known = sides_[static_cast<std::size_t>(v)];
    if (known == 0) ++open_;
    known |= sides;
  }
  void meet(const Access& access, std::uint8_t sides) {
    for (std::size_t d = 0; d < program_.outer.size(); ++d) {
      if (!detail::changes_along(stack_of(access), d)) continue;
      if ((sides & 1) != 0) varies_[0][d] = true;
      if ((sides & 2) != 0) varies_[1][d] = true;
    }
  }

  const LoopProgram& program_;
  std::size_t stage_;
  std::vector<std::uint8_t> sides_;  // of each value: bit 0 if the left factor needs it, bit 1 for the right one
  int open_ = 0;                     // values that are needed and whose instruction was not met
  std::vector<bool> varies_[2];
};

std::int64_t points(const LoopProgram& program, const std::vector<std::size_t>& loops) {
  Ints extents;
  for (const std::size_t d : loops) extents.push_back(program.outer[d]);
  return numel(extents, "contraction").value();
}

}  // namespace

std::optional<Contraction> find_contraction(const LoopProgram& program, std::size_t batches) {
  const std::size_t at = only_loops(program);
  if (at == program.stages.size()) return std::nullopt;
  const Stage* stage = &program.stages[at];
  if (stage->reductions.size() != 1 || stage->reductions[0].op != Op::Sum) return std::nullopt;
  const Reduction& sum = stage->reductions[0];
  if (std::any_of(stage->body.begin(), stage->body.end(), [](const Instr& in) { return in.code == Code::Store; })) {
    return std::nullopt;
  }
  Contraction c;
  c.stage = at;
  c.dtype = sum.dtype;
  c.result = sum.result;
  Factors factors(program, c.stage);
  const Instr* product = factors.maker(sum.input);
  if (product == nullptr || product->code != Code::Elementwise || product->op != Op::Mul ||
      product->dtype != sum.dtype || product->from != sum.dtype || sum.dtype == DType::bool_) {
    return std::nullopt;
  }
  c.left = product->a;
  c.right = product->b;
  if (!factors.follow(c.left, c.right)) return std::nullopt;
  const std::vector<bool>& in_left = factors.varies(0);
  const std::vector<bool>& in_right = factors.varies(1);
  for (std::size_t d = 0; d < program.outer.size(); ++d) {
    (d < batches || in_left[d] == in_right[d] ? c.batch_loops : in_left[d] ? c.row_loops : c.column_loops).push_back(d);
  }
  if (c.row_loops.empty() && c.column_loops.empty()) return std::nullopt;
  if (c.column_loops.empty() || (!c.row_loops.empty() && c.row_loops.back() > c.column_loops.back())) {
    std::swap(c.left, c.right);
    std::swap(c.row_loops, c.column_loops);
  }
  c.batches = points(program, c.batch_loops);
  c.rows = points(program, c.row_loops);
  c.columns = points(program, c.column_loops);
  c.depth = numel(stage->inner, "contraction").value();
  return c;
}

LoopProgram factor_program(const LoopProgram& program, const Contraction& c, bool left) {
  const Stage& stage = program.stages[c.stage];
  const std::size_t outer = program.outer.size();
  const std::size_t inner = stage.inner.size();
  Ints order;
  Ints extents = stage.inner;
  for (std::size_t d = 0; d < inner; ++d) order.push_back(outer + d);
  for (const auto* loops : {&c.batch_loops, left ? &c.row_loops : &c.column_loops}) {
    for (const std::size_t d : *loops) {
      order.push_back(d);
      extents.push_back(program.outer[d]);
    }
  }
  const std::size_t kept = order.size();
  std::vector<std::size_t> loops;
  for (const SymInt d : order) loops.push_back(static_cast<std::size_t>(d.value()));
  for (const std::size_t d : left ? c.column_loops : c.row_loops) order.push_back(d);

  Shape all = program.outer;
  all.insert(all.end(), stage.inner.begin(), stage.inner.end());
  LoopProgram out = without_loops(program, extents);
  std::vector<Instr>& list = out.stages[0].outer;
  if (!Definitions(program, c.stage).gather(left ? c.left : c.right, list)) {
    throw InternalError("contraction", "a factor of " + program.name + " is made by no instruction");
  }
  for (Instr& in : list) {
    if (!reads(in)) continue;
    Access access = program.accesses[static_cast<std::size_t>(in.aux)];
    in.aux = static_cast<std::int32_t>(out.accesses.size());
    if (access.is_symbolic()) {
      access.select(loops, extents);
      out.accesses.push_back(std::move(access));
      continue;
    }
    ShapeTracker t = stack_of(access);
    if (t.shape().size() < all.size()) {
      Shape padded = t.shape();
      padded.resize(all.size(), SymInt(1));
      t = t.reshape(padded).expand(all);
    }
    t = t.permute(order);
    Ranges first;
    for (std::size_t d = 0; d < t.shape().size(); ++d) first.push_back({0, d < kept ? t.shape()[d] : SymInt(1)});
    access.remap(t.shrink(first).reshape(extents));
    out.accesses.push_back(std::move(access));
  }
  return out;
}

LoopProgram epilogue_program(const LoopProgram& program, const Contraction& c) {
  Ints order;
  Ints extents;
  for (const auto* loops : {&c.batch_loops, &c.row_loops, &c.column_loops}) {
    for (const std::size_t d : *loops) {
      order.push_back(d);
      extents.push_back(program.outer[d]);
    }
  }
  return after_stage(program, c.stage, order, extents);
}

std::string to_string(const Contraction& c) {
  return fmt::format("batch {}, {} x {} x {}", c.batches, c.rows, c.columns, c.depth);
}

}  // namespace oriel::codegen
