// Estimates the time of a kernel from its structure. The number of its threads depends on the estimate, and explain
// tells it.
#pragma once

#include "backend/eigen/tile/plan.hpp"
#include "codegen/loop_program.hpp"

namespace oriel::backend::eigen {

/// Estimated seconds of `program` on one thread of the tile machine, from its operations, weighted by the cost column
/// of the op table, and its bytes. Accurate within a factor of about 3 on current machines; equal on every machine.
double estimated_seconds(const codegen::LoopProgram& program, const Plan& plan);

}  // namespace oriel::backend::eigen
