// What a loop program costs and how it is best walked: orientation, operations, bytes, and its name.
#pragma once

#include <string>

#include "codegen/loop_program.hpp"

namespace oriel::codegen {

/// Columns pay where the operands walk memory better along the last outer loop than along the last inner one: each
/// stage counts by its points.
Orientation choose_orientation(const LoopProgram& program);

/// A dtype in the names of kernels: "f32", "i8".
const char* short_name(DType dtype);

/// The name that finish() gives the program, without its sizes: "sum_f32_7ops".
std::string name_without_sizes(const LoopProgram& program);

/// Fills orientation, flops, bytes, name and form from the rest of the program.
void finish(LoopProgram& program);

}  // namespace oriel::codegen
