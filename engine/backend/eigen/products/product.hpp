// Runs contractions: packs panels of the factors, multiplies them block by block, and finishes the results while they
// are in cache.
#pragma once

#include <span>

#include "backend/eigen/products/contraction_plan.hpp"
#include "backend/eigen/tile/threads.hpp"

namespace oriel::backend::eigen {

void run_contraction(const ContractionPlan& plan, const Team& threads, std::span<void* const> arguments,
                     std::span<const graph::Scalar> parameters);

}  // namespace oriel::backend::eigen
