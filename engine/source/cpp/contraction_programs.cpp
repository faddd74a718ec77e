#include "source/cpp/contraction_programs.hpp"

namespace oriel::source::cpp {

using codegen::Access;
using codegen::Code;
using codegen::Contraction;
using codegen::Instr;
using codegen::LoopProgram;

namespace {

/// Joins loops d - 1 and d if they are one loop in all operands.
bool merge_loop(LoopProgram& program, std::size_t d) {
  std::vector<Access> joined;
  for (const Access& access : program.accesses) {
    std::optional<Access> one = access.with_joined(d);
    if (!one) return false;
    joined.push_back(std::move(*one));
  }
  program.accesses = std::move(joined);
  program.outer[d - 1] = program.outer[d - 1] * program.outer[d];
  program.outer.erase(program.outer.begin() + static_cast<std::ptrdiff_t>(d));
  return true;
}

/// Sets the strides of loops [begin, end) to those of row-major order, with neighbours `step` apart.
void count_strides(const Ints& extents, std::size_t begin, std::size_t end, SymInt step, Ints& strides) {
  for (std::size_t d = end; d-- > begin; step *= extents[d]) strides[d] = step;
}

int add_memory(LoopProgram& program, const Contraction& c, const char* name, std::int64_t elements, const Ints& strides,
               bool written) {
  codegen::Argument argument;
  argument.dtype = c.dtype;
  argument.elements = elements;
  argument.output = argument.local = written;
  argument.name = name;
  const auto index = static_cast<std::int32_t>(program.arguments.size());
  program.arguments.push_back(argument);
  program.accesses.push_back(Access::strided(index, c.dtype, program.outer, strides));
  return index;
}

}  // namespace

// Runs are as long as memory allows.
void merge_loops(LoopProgram& program, LoopProgram* symbolic) {
  for (std::size_t d = program.outer.size(); d-- > 1;)
    if (symbolic == nullptr || merge_loop(*symbolic, d)) merge_loop(program, d);
}

PackedProgram packing_program(const LoopProgram& program, const Contraction& c, bool left, bool by_rows,
                              std::int64_t pitch) {
  LoopProgram out = codegen::factor_program(program, c, left);
  out.name += left ? "_left" : "_right";
  const std::size_t rank = out.outer.size();
  const std::size_t inner = program.stages[c.stage].inner.size();
  const std::size_t batches = c.batch_loops.size();
  const std::int64_t points = left ? c.rows : c.columns;
  if (by_rows) {
    Ints order;
    for (std::size_t d = 0; d < rank; ++d) order.push_back((d + inner) % rank);
    for (Access& access : out.accesses) access.permute(order);
    Ints extents;
    for (const SymInt d : order) extents.push_back(out.outer[static_cast<std::size_t>(d.value())]);
    out.outer = extents;
  }
  Ints strides(rank, SymInt(0));
  if (by_rows) {
    count_strides(out.outer, rank - inner, rank, 1, strides);
    count_strides(out.outer, batches, rank - inner, pitch, strides);
  } else {
    count_strides(out.outer, 0, inner, pitch, strides);
    count_strides(out.outer, inner + batches, rank, 1, strides);
  }
  const std::int64_t elements = by_rows ? (points - 1) * pitch + c.depth : (c.depth - 1) * pitch + points;
  const int argument = add_memory(out, c, "panel", elements, strides, true);
  Instr store;
  store.code = Code::Store;
  store.dtype = store.from = c.dtype;
  store.a = left ? c.left : c.right;
  store.aux = static_cast<std::int32_t>(out.accesses.size()) - 1;
  out.stages[0].outer.push_back(store);
  return {std::move(out), argument};
}

PackedProgram results_program(const LoopProgram& program, const Contraction& c, std::int64_t pitch) {
  LoopProgram out = codegen::epilogue_program(program, c);
  out.name += "_results";
  const std::size_t rank = out.outer.size();
  const std::size_t rows = c.batch_loops.size();
  const std::size_t columns = rows + c.row_loops.size();
  Ints strides(rank, SymInt(0));
  count_strides(out.outer, columns, rank, 1, strides);
  count_strides(out.outer, rows, columns, pitch, strides);
  const int argument = add_memory(out, c, "sums", (c.rows - 1) * pitch + c.columns, strides, false);
  Instr load;
  load.code = Code::Load;
  load.dtype = load.from = c.dtype;
  load.result = c.result;
  load.aux = static_cast<std::int32_t>(out.accesses.size()) - 1;
  out.stages[0].outer.insert(out.stages[0].outer.begin(), load);
  return {std::move(out), argument};
}

}  // namespace oriel::source::cpp
