#include "codegen/contraction.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/definitions.hpp"
#include "codegen/stack.hpp"
#include "oriel/error.hpp"
#include "schedule/loop_product.hpp"

namespace oriel::codegen {

namespace {

std::int64_t points(const Ints& extents, const std::vector<std::size_t>& loops) {
  Ints some;
  for (const std::size_t d : loops) some.push_back(extents[d]);
  return numel(some, "contraction").value();
}

}  // namespace

std::optional<Contraction> contraction_of(const LoopProgram& program, std::size_t at, std::size_t batches) {
  const Stage& stage = program.stages[at];
  const Reduction& sum = stage.reductions[0];
  if (sum.source != schedule::ReductionSource::Product) return std::nullopt;
  Ints extents = program.outer;
  extents.insert(extents.end(), stage.columns.begin(), stage.columns.end());
  const Definitions definitions(program, at);
  Contraction c;
  c.left = definitions.of(sum.input)->a;
  c.right = definitions.of(sum.input)->b;
  schedule::AxisRoles axes(extents.size());
  for (const int side : {0, 1}) {
    std::vector<Instr> made;
    if (!definitions.gather(side == 0 ? c.left : c.right, made)) return std::nullopt;
    for (const Instr& in : made)
      if (reads(in)) axes.add(side, stack_of(program.accesses[static_cast<std::size_t>(in.aux)]));
  }
  for (std::size_t d = 0; d < axes.size(); ++d) {
    const bool batch = d < batches || axes[d] == schedule::AxisRole::Batch;
    (batch ? c.batch_loops : axes[d] == schedule::AxisRole::Left ? c.row_loops : c.column_loops).push_back(d);
  }
  if (c.row_loops.empty() && c.column_loops.empty()) return std::nullopt;
  const auto first = std::ranges::find(program.stages, stage.part, &Stage::part);
  c.stage = at - static_cast<std::size_t>(first - program.stages.begin());  // among those of its part
  c.dtype = sum.dtype;
  c.result = sum.result;
  if (c.column_loops.empty() || (!c.row_loops.empty() && c.row_loops.back() > c.column_loops.back())) {
    std::swap(c.left, c.right);
    std::swap(c.row_loops, c.column_loops);
  }
  c.batches = points(extents, c.batch_loops);
  c.rows = points(extents, c.row_loops);
  c.columns = points(extents, c.column_loops);
  c.depth = numel(stage.inner, "contraction").value();
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
