#include "codegen/lower_alone.hpp"

#include "view/plain.hpp"

namespace oriel::codegen {

void set_loops(LoopProgram& program, const Shape& loops) {
  const bool symbolic = detail::is_symbolic(loops);
  if (Sorting* const sorting = program.sorting ? &*program.sorting : nullptr; sorting != nullptr && !symbolic) {
    sorting->rows = loops[0].value();
    sorting->extent = loops[1].value();
  }
  if (Scanning* const scan = program.scanning ? &*program.scanning : nullptr; scan != nullptr && !symbolic) {
    scan->rows = loops[0].value();
    scan->extent = loops[1].value();
    scan->inner = loops[2].value();
  }
  program.outer = {loops[0]};
  const View whole = symbolic ? View::contiguous(loops) : View::contiguous(loops).canonical();
  const ShapeTracker all = detail::trusted_stack({&whole, 1});
  program.accesses.clear();
  program.accesses.reserve(2);
  for (std::size_t a = 0; a < 2; ++a) {
    program.arguments[a].elements = numel(loops);
    program.accesses.emplace_back(static_cast<std::int32_t>(a), program.arguments[a].dtype, all);
  }
}

LoweredKernel lower_alone(const schedule::Arena& arena, const schedule::KernelGraph& graph, schedule::KernelId id) {
  const schedule::Kernel& kernel = graph.kernels[static_cast<std::size_t>(id)];
  const schedule::Entry& e = arena[kernel.root];
  const schedule::EntryId source = e.source[0];
  const schedule::MapId map = kernel.outputs.front().map;
  LoweredKernel out;
  LoopProgram& program = out.program;
  program.arguments.reserve(2);
  out.bindings.reserve(2);
  out.notes.reserve(2);
  program.arguments.push_back({arena[source].dtype, 0, false, "in0"});
  out.bindings.push_back({source, arena[source].op == graph::Op::Buffer});
  out.notes.push_back({id, source, schedule::kRootScope, map});
  program.arguments.push_back({e.dtype, 0, true, "out0"});
  out.bindings.push_back({kernel.root, false});
  out.notes.push_back({id, kernel.root, schedule::kRootScope, map});
  out.domain_before = to_string(e.shape());

  const Shape& shape = e.shape();
  const Ints& argument = std::get<Ints>(e.node->arg);
  const std::size_t axis = kernel.sorts ? shape.size() - 1 : static_cast<std::size_t>(argument[0].value());
  Shape loops{SymInt(1), shape[axis]};
  for (std::size_t d = 0; d < axis; ++d) loops[0] = loops[0] * shape[d];
  if (kernel.sorts) {
    program.form = Sort{};
    program.sorting = Sorting{.descending = argument[0] == 1, .positions = e.op == graph::Op::ArgSort};
  } else {
    program.form = Scan{};
    program.scanning = Scanning{.op = e.op};
    loops.push_back(1);
    for (std::size_t d = axis + 1; d < shape.size(); ++d) loops[2] = loops[2] * shape[d];
  }
  set_loops(program, loops);
  return out;
}

}  // namespace oriel::codegen
