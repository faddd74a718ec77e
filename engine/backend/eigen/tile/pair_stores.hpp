// Results that go straight to memory.
#pragma once

#include <vector>

#include "backend/eigen/tile/plan.hpp"
#include "codegen/loop_program.hpp"

namespace oriel::backend::eigen {

/// A computed value that a store takes as it is may be written straight to memory: the store then has nothing to do.
/// Not so what `kept` holds, nor where an instruction behind it still reads the memory. `copied_inputs`: inputs that
/// outputs lie over are copied in before.
void pair_stores(const codegen::LoopProgram& program, const Plan& plan, bool copied_inputs,
                 const std::vector<Kept>& kept, std::vector<TileStep>& steps);

}  // namespace oriel::backend::eigen
