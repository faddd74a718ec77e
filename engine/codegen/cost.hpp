// What a loop program costs and how it is best walked: orientation, operations, bytes, and its name.
#pragma once

#include "codegen/loop_program.hpp"

namespace oriel::codegen {

/// Fills orientation, flops, bytes, name and form from the rest of the program.
void finish(LoopProgram& program);

}  // namespace oriel::codegen
