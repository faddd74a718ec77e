#include "codegen/lower_scan.hpp"

#include <string>

#include "codegen/cost.hpp"
#include "codegen/lower_sort.hpp"

namespace oriel::codegen {

OpenKernel lower_scan(const schedule::Arena& arena, const schedule::KernelGraph& graph, schedule::KernelId kernel_id) {
  const schedule::Entry& e = arena[graph.kernels[static_cast<std::size_t>(kernel_id)].root];
  OpenKernel open = lower_alone(arena, graph, kernel_id);
  LoopProgram& program = open.lowered.program;
  program.form = Scan{};
  program.scanning.emplace();
  program.scanning->op = e.op;
  program.scanning->axis = std::get<Ints>(e.node->arg)[0].value();
  program.scanning->number = e.op == graph::Op::Recurrence && std::get<Ints>(e.node->arg)[1] == 1;
  return open;
}

void close_scan(LoweredKernel& kernel, std::span<const Shape> shapes) {
  const Shape& shape = shapes.back();
  LoopProgram& program = kernel.program;
  Scanning scan = *std::exchange(program.scanning, std::nullopt);
  const auto axis = static_cast<std::size_t>(scan.axis);
  scan.rows = scan.inner = 1;
  scan.extent = shape[axis].value();
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (d != axis) (d < axis ? scan.rows : scan.inner) *= shape[d].value();
  }
  close_alone(kernel, shapes, scan.rows);
  program.scanning = scan;
  program.name = graph::snake_name(scan.op) + '_' + std::string(short_name(program.arguments.back().dtype));
  program.name += '_' + std::to_string(scan.rows) + "_by_" + std::to_string(scan.extent);
  if (scan.inner > 1) program.name += "_lines_of_" + std::to_string(scan.inner);
  program.flops = program.arguments.back().elements;
}

}  // namespace oriel::codegen
