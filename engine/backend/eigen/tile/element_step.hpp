// Which function of an instruction set's table an elementwise instruction is.
#pragma once

#include <string>

#include "backend/eigen/tile/plan.hpp"
#include "codegen/loop_program.hpp"

namespace oriel::backend::eigen {

/// Fills in the kind and the function of `step`. `by_numbers`: the operands but a are one number each in all of a tile.
/// Throws DeviceError, naming the kernel, where the table lacks the operation.
void element_step(const codegen::Instr& in, const std::string& kernel, const isa::Table& table, bool by_numbers,
                  TileStep& step);

}  // namespace oriel::backend::eigen
