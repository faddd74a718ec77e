// Lets results be computed directly into memory.
#pragma once

#include <vector>

#include "backend/eigen/tile/plan.hpp"
#include "codegen/loop_program.hpp"

namespace oriel::backend::eigen {

/// If a store takes a computed value unchanged, the value may be written to memory directly, and the store does
/// nothing. This is not done for values in `kept`, nor if a later instruction still reads the memory. `copied_inputs`:
/// inputs that outputs overwrite are copied first.
void pair_stores(const codegen::LoopProgram& program, const Plan& plan, bool copied_inputs,
                 const std::vector<Kept>& kept, std::vector<TileStep>& steps);

}  // namespace oriel::backend::eigen
