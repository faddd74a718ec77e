// Runs contractions: packs panels of the factors, multiplies them block by block, and finishes the results while they
// are in cache.
#pragma once

#include <span>

#include "backend/eigen/products/contraction_plan.hpp"
#include "backend/eigen/tile/threads.hpp"
#include "backend/kept_factors.hpp"

namespace oriel::backend::eigen {

/// `keeping`: null if nothing is kept from launch to launch.
void run_contraction(const ContractionPlan& plan, const Team& threads, std::span<void* const> arguments,
                     std::span<const graph::Scalar> parameters, const Keeping* keeping = nullptr);

}  // namespace oriel::backend::eigen
