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
  return open;
}

void close_scan(LoweredKernel& kernel, const Shape& shape) {
  LoopProgram& program = kernel.program;
  Scanning scan = *std::exchange(program.scanning, std::nullopt);
  const auto axis = static_cast<std::size_t>(scan.axis);
  scan.rows = scan.inner = 1;
  scan.extent = shape[axis].value();
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (d != axis) (d < axis ? scan.rows : scan.inner) *= shape[d].value();
  }
  close_alone(kernel, shape, {scan.rows, scan.extent, scan.inner});
  program.scanning = scan;
  program.name = scan.op == graph::Op::CumSum ? "cumsum_" : "cumprod_";
  program.name += short_name(program.arguments[1].dtype);
  program.name += '_' + std::to_string(scan.rows) + "_by_" + std::to_string(scan.extent);
  if (scan.inner > 1) program.name += "_lines_of_" + std::to_string(scan.inner);
  program.flops = program.arguments[1].elements;
}

}  // namespace oriel::codegen
