// Finds the function of an instruction set's table for an elementwise instruction.
#pragma once

#include <string>

#include "backend/eigen/tile/plan.hpp"
#include "codegen/loop_program.hpp"

namespace oriel::backend::eigen {

/// Fills in the kind and the function of `step`. `by_numbers`: each operand except a is one number for the whole tile.
/// Throws DeviceError, which names the kernel, if the table lacks the operation.
void element_step(const codegen::Instr& in, const std::string& kernel, const isa::Table& table, bool by_numbers,
                  TileStep& step);

}  // namespace oriel::backend::eigen
