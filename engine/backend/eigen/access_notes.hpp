// What the form of a kernel's loops and accesses costs on the tile machine, in words.
#pragma once

#include <string>
#include <vector>

#include "backend/eigen/tile/plan.hpp"
#include "codegen/loop_program.hpp"

namespace oriel::backend::eigen {

/// One line for each property that keeps a program without products far from the time of its memory and arithmetic:
/// "gathers in0 element by element: rows of 4 bytes", "reads 12 of each 64 bytes of in0", "the innermost loop has 2
/// points: a vector spans several lines", "reduces rows of 16 points, fewer than the 32 lanes". They follow from
/// extents, strides and dtypes. Empty for programs whose estimated time is below 20 us.
std::vector<std::string> access_notes(const codegen::LoopProgram& program, const Plan& plan);

}  // namespace oriel::backend::eigen
