// Runs products of small matrices side by side.
#pragma once

#include <span>

#include "backend/eigen/products/small_plan.hpp"
#include "backend/eigen/tile/threads.hpp"

namespace oriel::backend::eigen {

/// Runs the plan once. Threads share the matrices.
void run_small_products(const SmallPlan& plan, const Team& threads, std::span<void* const> arguments,
                        std::span<const graph::Scalar> parameters);

}  // namespace oriel::backend::eigen
