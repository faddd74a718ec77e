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
  program.accesses.push_back({0, arena[source].dtype, rows});
  out.bindings.push_back({source, arena[source].op == graph::Op::Buffer});
  out.notes.push_back({kernel_id, source, schedule::kRootScope, map});
  program.arguments.push_back({e.dtype, elements, true, "out0", -1, false});
  program.accesses.push_back({1, e.dtype, rows});
  out.bindings.push_back({kernel.root, false});
  out.notes.push_back({kernel_id, kernel.root, schedule::kRootScope, map});
  out.domain_before = to_string(e.shape());
  finish(program);
  program.sorting = sorting;
  // "copy_f32_4_0ops" becomes "sort_f32_4_by_16".
  std::string& name = program.name;
  name.erase(name.rfind('_') + 1);
  name += "by_" + std::to_string(sorting.extent);
  name.replace(0, name.find('_'), sorting.positions ? "argsort" : "sort");
  // As many comparisons as a sort of each row takes at best.
  program.flops = elements * std::bit_width(static_cast<std::uint64_t>(sorting.extent - 1));
  return out;
}

}  // namespace oriel::codegen
