#include "codegen/lower_sort.hpp"

#include <bit>
#include <string>

#include "codegen/cost.hpp"

namespace oriel::codegen {

OpenKernel lower_alone(const schedule::Arena& arena, const schedule::KernelGraph& graph, schedule::KernelId kernel_id) {
  const schedule::Kernel& kernel = graph.kernels[static_cast<std::size_t>(kernel_id)];
  const schedule::Entry& e = arena[kernel.root];
  const schedule::MapId map = kernel.outputs.front().map;
  OpenKernel open;
  LoweredKernel& out = open.lowered;
  const std::size_t count = static_cast<std::size_t>(e.arity) + 1;
  out.program.arguments.reserve(count);
  out.bindings.reserve(count);
  out.notes.reserve(count);
  for (int k = 0; k < e.arity; ++k) {
    const schedule::EntryId source = e.source[k];
    out.program.arguments.push_back({arena[source].dtype, 0, false, "in" + std::to_string(k), -1, false});
    out.bindings.push_back({source, arena[source].op == graph::Op::Buffer});
    out.notes.push_back({kernel_id, source, schedule::kRootScope, map});
    open.shapes.push_back(&arena[source].shape());
  }
  out.program.arguments.push_back({e.dtype, 0, true, "out0", -1, false});
  out.bindings.push_back({kernel.root, false});
  out.notes.push_back({kernel_id, kernel.root, schedule::kRootScope, map});
  open.shapes.push_back(&e.shape());
  return open;
}

void close_alone(LoweredKernel& kernel, const Shape& shape, const Shape& loops) {
  LoopProgram& program = kernel.program;
  program.outer = {loops[0]};
  program.accesses.reserve(2);
  const View whole = View::contiguous(loops).canonical();
  const ShapeTracker all = detail::trusted_stack({&whole, 1});
  for (std::size_t a = 0; a < 2; ++a) {
    program.arguments[a].elements = numel(shape).value();
    program.accesses.emplace_back(static_cast<std::int32_t>(a), program.arguments[a].dtype, all);
  }
  kernel.domain_before = to_string(shape);
  finish(program);
}

OpenKernel lower_sort(const schedule::Arena& arena, const schedule::KernelGraph& graph, schedule::KernelId kernel_id) {
  const schedule::Entry& e = arena[graph.kernels[static_cast<std::size_t>(kernel_id)].root];
  OpenKernel open = lower_alone(arena, graph, kernel_id);
  LoopProgram& program = open.lowered.program;
  program.sorting.emplace();
  program.form = Sort{};
  program.sorting->descending = std::get<Ints>(e.node->arg)[0] == 1;
  program.sorting->positions = e.op == graph::Op::ArgSort;
  return open;
}

void close_sort(LoweredKernel& kernel, const Shape& shape) {
  LoopProgram& program = kernel.program;
  Sorting sorting = *std::exchange(program.sorting, std::nullopt);
  const std::int64_t elements = numel(shape).value();
  sorting.extent = shape.back().value();
  sorting.rows = elements / sorting.extent;
  close_alone(kernel, shape, {sorting.rows, sorting.extent});
  program.sorting = sorting;
  program.name = sorting.positions ? "argsort_" : "sort_";
  program.name += short_name(program.arguments[1].dtype);
  program.name += '_' + std::to_string(sorting.rows) + "_by_" + std::to_string(sorting.extent);
  // The least number of comparisons in a sort of each row.
  program.flops = elements * std::bit_width(static_cast<std::uint64_t>(sorting.extent - 1));
}

}  // namespace oriel::codegen
