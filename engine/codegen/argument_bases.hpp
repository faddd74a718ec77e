// Where accesses begin in their arguments, taken out of a program: kernels over other slices are then the same program.
#pragma once

#include <cstdint>
#include <vector>

#include "codegen/loop_program.hpp"

namespace oriel::codegen {

/// Subtracts a number of elements from the offsets of all accesses of an argument, so that its first access begins at
/// 0, and returns these numbers by argument. The program computes the same if each argument's memory is passed from
/// that element on. 0, and nothing subtracted, for arguments that are gathered from or read through several maps, and
/// for local ones. An output in the memory of an input has the input's number.
std::vector<std::int64_t> take_bases(LoopProgram& program);

}  // namespace oriel::codegen
