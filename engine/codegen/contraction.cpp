#include "codegen/contraction.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "codegen/makers.hpp"
#include "codegen/stack.hpp"
#include "oriel/error.hpp"
#include "schedule/loops.hpp"

namespace oriel::codegen {

using graph::Op;

namespace {

std::vector<bool> varying_loops(const LoopProgram& program, const std::vector<Instr>& list) {
  std::vector<bool> loops(program.outer.size(), false);
  for (const Instr& in : list) {
    if (!reads(in)) continue;
    for (std::size_t d = 0; d < loops.size(); ++d) {
      if (schedule::changes_along(stack_of(program.accesses[static_cast<std::size_t>(in.aux)]), d)) loops[d] = true;
    }
  }
  return loops;
}

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
  const Makers makers(program, c.stage);
  const Instr* product = makers.of(sum.input);
  if (product == nullptr || product->code != Code::Elementwise || product->op != Op::Mul ||
      product->dtype != sum.dtype || product->from != sum.dtype || sum.dtype == DType::bool_) {
    return std::nullopt;
  }
  c.left = product->a;
  c.right = product->b;
  std::vector<Instr> left;
  std::vector<Instr> right;
  if (!makers.gather(c.left, left) || !makers.gather(c.right, right)) return std::nullopt;
  const std::vector<bool> in_left = varying_loops(program, left);
  const std::vector<bool> in_right = varying_loops(program, right);
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
  for (const std::size_t d : left ? c.column_loops : c.row_loops) order.push_back(d);

  Shape all = program.outer;
  all.insert(all.end(), stage.inner.begin(), stage.inner.end());
  LoopProgram out = without_loops(program, extents);
  std::vector<Instr>& list = out.stages[0].outer;
  if (!Makers(program, c.stage).gather(left ? c.left : c.right, list)) {
    throw InternalError("contraction", "a factor of " + program.name + " is made by no instruction");
  }
  for (Instr& in : list) {
    if (!reads(in)) continue;
    Access access = program.accesses[static_cast<std::size_t>(in.aux)];
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
    in.aux = static_cast<std::int32_t>(out.accesses.size());
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
