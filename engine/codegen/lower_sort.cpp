#include "codegen/lower_sort.hpp"

#include <bit>
#include <string>

#include "codegen/cost.hpp"

namespace oriel::codegen {

LoweredKernel lower_sort(const schedule::Arena& arena, const schedule::KernelGraph& graph,
                         schedule::KernelId kernel_id) {
  const schedule::Kernel& kernel = graph.kernels[static_cast<std::size_t>(kernel_id)];
  const schedule::Entry& e = arena[kernel.root];
  const schedule::EntryId source = e.source[0];
  const schedule::MapId map = kernel.outputs.front().map;
  Sorting sorting;
  sorting.extent = e.shape().back().value();
  sorting.rows = numel(e.shape()).value() / sorting.extent;
  sorting.descending = std::get<Ints>(e.node->arg)[0] == 1;
  sorting.positions = e.op == graph::Op::ArgSort;

  LoweredKernel out;
  LoopProgram& program = out.program;
  program.outer = {sorting.rows};
  program.arguments.reserve(2);
  program.accesses.reserve(2);
  out.bindings.reserve(2);
  out.notes.reserve(2);
  const std::int64_t elements = sorting.rows * sorting.extent;
  const View whole = View::contiguous({sorting.rows, sorting.extent}).canonical();
  const ShapeTracker rows = detail::trusted_stack({&whole, 1});
  program.arguments.push_back({arena[source].dtype, elements, false, "in0", -1, false});
  program.accesses.emplace_back(0, arena[source].dtype, rows);
  out.bindings.push_back({source, arena[source].op == graph::Op::Buffer});
  out.notes.push_back({kernel_id, source, schedule::kRootScope, map});
  program.arguments.push_back({e.dtype, elements, true, "out0", -1, false});
  program.accesses.emplace_back(1, e.dtype, rows);
  out.bindings.push_back({kernel.root, false});
  out.notes.push_back({kernel_id, kernel.root, schedule::kRootScope, map});
  out.domain_before = to_string(e.shape());
  finish(program);
  program.sorting = sorting;
  program.name = fmt::format("{}_{}_{}_by_{}", sorting.positions ? "argsort" : "sort", short_name(e.dtype),
                             sorting.rows, sorting.extent);
  // The least number of comparisons in a sort of each row.
  program.flops = elements * std::bit_width(static_cast<std::uint64_t>(sorting.extent - 1));
  return out;
}

}  // namespace oriel::codegen
