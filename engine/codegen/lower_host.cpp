#include "codegen/lower_host.hpp"

#include <algorithm>
#include <utility>

#include "codegen/cost.hpp"
#include "codegen/lower_sort.hpp"

namespace oriel::codegen {

OpenKernel lower_host(const schedule::Arena& arena, const schedule::KernelGraph& graph, schedule::KernelId kernel_id) {
  const schedule::Entry& e = arena[graph.kernels[static_cast<std::size_t>(kernel_id)].root];
  OpenKernel open = lower_alone(arena, graph, kernel_id);
  // The function sees its operands' shapes: the arena has left out reshapes of what lies in memory.
  for (int k = 0; k < e.arity; ++k) open.shapes[static_cast<std::size_t>(k)] = &arena.operand_shape(e, k);
  LoopProgram& program = open.lowered.program;
  program.form = Host{};
  program.hosting.emplace();
  program.hosting->function = std::get<graph::HostFunctionPtr>(e.node->arg);
  return open;
}

void close_host(LoweredKernel& kernel, std::span<const Shape> shapes) {
  LoopProgram& program = kernel.program;
  Hosting hosting = *std::exchange(program.hosting, std::nullopt);
  close_alone(kernel, shapes, 1);
  program.name = "host_";
  for (const char c : hosting.function->name)
    program.name += (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ? c : '_';
  hosting.shapes.assign(shapes.begin(), shapes.end());
  program.hosting = std::move(hosting);
}

}  // namespace oriel::codegen
