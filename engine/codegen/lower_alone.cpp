#include "codegen/lower.hpp"

#include <algorithm>
#include <vector>

#include "view/plain.hpp"

namespace oriel::codegen {
namespace {

/// Rows, the axis, and the elements of a line.
Shape lines_of(const Shape& shape, std::size_t axis) {
  Shape out{SymInt(1), shape[axis], SymInt(1)};
  for (std::size_t d = 0; d < shape.size(); ++d)
    if (d != axis) out[d < axis ? 0 : 2] = out[d < axis ? 0 : 2] * shape[d];
  return out;
}

/// The shapes of a scatter's arguments.
std::vector<Shape> scattered_shapes(const schedule::Arena& arena, const schedule::Entry& e, Scattering& scatter) {
  const Ints& argument = std::get<Ints>(e.node->arg);
  scatter.op = e.op;
  scatter.axis = argument[0].value();
  scatter.each = argument[1] == 1;
  scatter.number = argument[2] == 1;
  const auto axis = static_cast<std::size_t>(scatter.axis);
  const Shape& positions = arena[e.source[0]].shape();
  const Shape entries = lines_of(e.shape(), axis);
  Shape keys = entries;
  keys[1] = scatter.each ? positions[axis] : numel(positions);
  std::vector<Shape> shapes{scatter.each ? keys : Shape{keys[1]}};
  if (e.arity == 2) shapes.push_back(scatter.number ? Shape{} : keys);
  shapes.push_back(entries);
  return shapes;
}

void set_numbers(LoopProgram& program, std::span<const Shape> shapes) {
  const Shape& result = shapes.back();
  const auto number = [](const Shape& shape, std::size_t d) { return shape[d].value(); };
  if (program.sorting) {
    program.sorting->rows = number(result, 0);
    program.sorting->extent = number(result, 1);
  } else if (program.scanning) {
    program.scanning->rows = number(result, 0);
    program.scanning->extent = number(result, 1);
    program.scanning->inner = number(result, 2);
  } else if (Scattering* const s = program.scattering ? &*program.scattering : nullptr; s != nullptr) {
    s->rows = number(result, 0);
    s->keys = number(shapes[0], s->each ? 1 : 0);
    s->extent = number(result, 1);
    s->inner = number(result, 2);
  } else {
    program.hosting->shapes.assign(shapes.begin(), shapes.end());
  }
}

}  // namespace

void set_shapes(LoopProgram& program, std::span<const Shape> shapes) {
  const bool symbolic = std::ranges::any_of(shapes, [](const Shape& shape) { return detail::is_symbolic(shape); });
  if (!symbolic) set_numbers(program, shapes);
  program.outer = {program.hosting ? SymInt(1) : shapes.back()[0]};
  program.accesses.clear();
  program.accesses.reserve(shapes.size());
  for (std::size_t a = 0; a < shapes.size(); ++a) {
    const View whole = symbolic ? View::contiguous(shapes[a]) : View::contiguous(shapes[a]).canonical();
    program.arguments[a].elements = numel(shapes[a]);
    program.accesses.emplace_back(static_cast<std::int32_t>(a), program.arguments[a].dtype,
                                  detail::trusted_stack({&whole, 1}));
  }
}

LoweredKernel lower_alone(const schedule::Arena& arena, const schedule::KernelGraph& graph, schedule::KernelId id) {
  const schedule::Kernel& kernel = graph.kernels[static_cast<std::size_t>(id)];
  const schedule::Entry& e = arena[kernel.root];
  const schedule::MapId map = kernel.outputs.front().map;
  LoweredKernel out;
  LoopProgram& program = out.program;
  const auto add = [&](schedule::EntryId entry, bool output) {
    const schedule::Entry& value = arena[entry];
    program.arguments.push_back({value.dtype, 0, output, output ? "out0" : "in" + std::to_string(out.bindings.size())});
    out.bindings.push_back({entry, !output && value.op == graph::Op::Buffer});
    out.notes.push_back({id, entry, schedule::kRootScope, map});
  };
  for (int k = 0; k < e.arity; ++k) add(e.source[k], false);
  add(kernel.root, true);
  out.domain_before = to_string(e.shape());

  std::vector<Shape> shapes;
  if (graph::is_sort(e.op)) {
    program.sorting =
        Sorting{.descending = std::get<Ints>(e.node->arg)[0] == 1, .positions = e.op == graph::Op::ArgSort};
    Shape rows = lines_of(e.shape(), e.shape().size() - 1);
    rows.pop_back();
    shapes = {rows, rows};
  } else if (graph::is_scan(e.op)) {
    const Ints& argument = std::get<Ints>(e.node->arg);
    program.scanning = Scanning{.op = e.op};
    if (e.op == graph::Op::Recurrence) {
      const auto kind = static_cast<graph::Recursion>(argument[1].value());
      program.scanning->number = kind == graph::Recursion::number;
      program.scanning->restarts = kind == graph::Recursion::restarts;
    }
    const Shape lines = lines_of(e.shape(), static_cast<std::size_t>(argument[0].value()));
    shapes.assign(program.arguments.size(), lines);
    if (program.scanning->number) shapes[0] = {};
  } else if (graph::is_scatter(e.op)) {
    shapes = scattered_shapes(arena, e, program.scattering.emplace());
  } else {
    program.hosting.emplace();
    program.hosting->function = std::get<graph::HostFunctionPtr>(e.node->arg);
    // The function sees its operands' shapes: the arena has left out reshapes of what lies in memory.
    for (int k = 0; k < e.arity; ++k) shapes.push_back(arena.operand_shape(e, k));
    shapes.push_back(e.shape());
  }
  set_shapes(program, shapes);
  return out;
}

}  // namespace oriel::codegen
