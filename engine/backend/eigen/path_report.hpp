// The estimated cost of a plan's path, and the faster paths that its kernel missed.
#pragma once

#include "backend/eigen/tile/plan.hpp"
#include "backend/path.hpp"

namespace oriel::backend::eigen {

/// `plan` was made from `program` with `table`.
PathReport path_report(const codegen::LoopProgram& program, const Plan& plan, const isa::Table& table);

}  // namespace oriel::backend::eigen
