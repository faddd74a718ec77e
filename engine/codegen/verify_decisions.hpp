// Compares what the schedule decided about a program with its instructions and accesses.
#pragma once

#include "codegen/loop_program.hpp"

namespace oriel::codegen {

/// Throws InternalError if a reduction is said to sum a product and does not (Reduction::source), or if the middle part
/// of a program that is said to be `online` is no softmax.
void verify_decisions(const LoopProgram& program);

}  // namespace oriel::codegen
