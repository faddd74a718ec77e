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
  const auto add = [&](schedule::EntryId entry, bool output) {
    const schedule::Entry& value = arena[entry];
    const std::string name = output ? "out0" : "in" + std::to_string(out.bindings.size());
    out.program.arguments.push_back({value.dtype, 0, output, name, -1, false});
    out.bindings.push_back({entry, !output && value.op == graph::Op::Buffer});
    out.notes.push_back({kernel_id, entry, schedule::kRootScope, map});
    open.shapes.push_back(&value.shape());
  };
  for (int k = 0; k < e.arity; ++k) add(e.source[k], false);
  add(kernel.root, true);
  return open;
}

void close_alone(LoweredKernel& kernel, std::span<const Shape> shapes, std::int64_t rows) {
  LoopProgram& program = kernel.program;
  program.outer = {rows};
  program.accesses.reserve(shapes.size());
  for (std::size_t a = 0; a < shapes.size(); ++a) {
    const View whole = View::contiguous(shapes[a]).canonical();
    program.arguments[a].elements = numel(shapes[a]).value();
    program.accesses.emplace_back(static_cast<std::int32_t>(a), program.arguments[a].dtype,
                                  detail::trusted_stack({&whole, 1}));
  }
  kernel.domain_before = to_string(shapes.back());
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

void close_sort(LoweredKernel& kernel, std::span<const Shape> shapes) {
  const Shape& shape = shapes.back();
  LoopProgram& program = kernel.program;
  Sorting sorting = *std::exchange(program.sorting, std::nullopt);
  const std::int64_t elements = numel(shape).value();
  sorting.extent = shape.back().value();
  sorting.rows = elements / sorting.extent;
  close_alone(kernel, shapes, sorting.rows);
  program.sorting = sorting;
  program.name = sorting.positions ? "argsort_" : "sort_";
  program.name += short_name(program.arguments[1].dtype);
  program.name += '_' + std::to_string(sorting.rows) + "_by_" + std::to_string(sorting.extent);
  // The least number of comparisons in a sort of each row.
  program.flops = elements * std::bit_width(static_cast<std::uint64_t>(sorting.extent - 1));
}

}  // namespace oriel::codegen
