// Where accesses begin in their arguments, taken out of a program: kernels over other slices are then the same program.
#pragma once

#include <cstdint>
#include <vector>

#include "codegen/loop_program.hpp"

namespace oriel::codegen {

/// Where the first access of each argument begins. 0 for arguments that are gathered from or read through several maps,
/// and for local ones. An output in the memory of an input has the input's number.
std::vector<std::int64_t> argument_bases(const LoopProgram& program);
/// Subtracts these numbers from the offsets of all accesses. The program computes the same if each argument's memory is
/// passed from that element on.
void take_bases(LoopProgram& program);

}  // namespace oriel::codegen
