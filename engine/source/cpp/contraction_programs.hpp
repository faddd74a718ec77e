// The loop programs that a rendered contraction consists of besides its products.
#pragma once

#include <cstdint>

#include "codegen/contraction.hpp"

namespace oriel::source::cpp {

/// A program without inner loops, and the argument of it that lies in what the kernel keeps.
struct PackedProgram {
  codegen::LoopProgram program;
  int argument = 0;
};

/// Stores a factor's elements, `pitch` apart from row to row (columns are rows of the right factor) and side by side
/// along the depth, its points numbered by batch, row and depth; or, without `by_rows`, `pitch` apart from depth to
/// depth, numbered by depth, batch and row. Batches lie over each other.
PackedProgram packing_program(const codegen::LoopProgram& program, const codegen::Contraction& contraction, bool left,
                              bool by_rows, std::int64_t pitch);

/// Joins neighbouring loops that are one loop in all operands. `symbolic`: the same program with symbolic sizes, for
/// which it must hold too and which is joined as well; or null.
void merge_loops(codegen::LoopProgram& program, codegen::LoopProgram* symbolic);

/// What is done to the results, which are read `pitch` apart from row to row; points are numbered by batch, row and
/// column.
PackedProgram results_program(const codegen::LoopProgram& program, const codegen::Contraction& contraction,
                              std::int64_t pitch);

}  // namespace oriel::source::cpp
