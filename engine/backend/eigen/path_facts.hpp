// What a plan's path costs, and which paths its kernel missed.
#pragma once

#include "backend/eigen/tile/plan.hpp"
#include "backend/path.hpp"

namespace oriel::backend::eigen {

/// `plan` was made of `program` with `table`.
PathFacts path_facts(const codegen::LoopProgram& program, const Plan& plan, const isa::Table& table);

}  // namespace oriel::backend::eigen
