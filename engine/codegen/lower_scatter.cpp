#include "codegen/lower_scatter.hpp"

#include <fmt/format.h>

#include "codegen/cost.hpp"
#include "codegen/lower_sort.hpp"

namespace oriel::codegen {

OpenKernel lower_scatter(const schedule::Arena& arena, const schedule::KernelGraph& graph,
                         schedule::KernelId kernel_id) {
  const schedule::Entry& e = arena[graph.kernels[static_cast<std::size_t>(kernel_id)].root];
  OpenKernel open = lower_alone(arena, graph, kernel_id);
  LoopProgram& program = open.lowered.program;
  program.form = Scatter{};
  Scattering& scatter = program.scattering.emplace();
  const Ints& argument = std::get<Ints>(e.node->arg);
  scatter.op = e.op;
  scatter.axis = argument[0].value();
  scatter.checked = argument[1] == 1;
  scatter.each = argument[2] == 1;
  scatter.number = argument[3] == 1;
  return open;
}

void close_scatter(LoweredKernel& kernel, std::span<const Shape> shapes) {
  LoopProgram& program = kernel.program;
  Scattering s = *std::exchange(program.scattering, std::nullopt);
  const Shape& shape = shapes.back();
  const auto axis = static_cast<std::size_t>(s.axis);
  s.rows = s.inner = 1;
  s.extent = shape[axis].value();
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (d != axis) (d < axis ? s.rows : s.inner) *= shape[d].value();
  }
  s.keys = s.each ? shapes[0][axis].value() : numel(shapes[0]).value();
  close_alone(kernel, shapes, s.rows);
  program.scattering = s;
  program.name = fmt::format("{}_{}_{}_into_{}", graph::snake_name(s.op), short_name(program.arguments.back().dtype),
                             s.keys, s.rows * s.extent);
  if (s.inner > 1) program.name += "_lines_of_" + std::to_string(s.inner);
  program.flops = s.rows * s.keys * s.inner;
}

}  // namespace oriel::codegen
