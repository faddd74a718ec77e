// About how long a kernel takes, from its structure alone: what the number of its threads goes by.
#pragma once

#include "backend/eigen/tile/plan.hpp"
#include "codegen/loop_program.hpp"

namespace oriel::backend::eigen {

/// Seconds that one thread of the tile machine takes for `program` on a machine of today: from operations, weighed as
/// the table of ops weighs them, and bytes. Right within a factor of about 3; the same on every machine.
double estimated_seconds(const codegen::LoopProgram& program, const Plan& plan);

}  // namespace oriel::backend::eigen
