// Runs reductions over windows: computes each element of a source once, reduces its windows in registers, and finishes
// the results while they are in cache.
#pragma once

#include <span>

#include "backend/eigen/products/windows_plan.hpp"
#include "backend/eigen/tile/threads.hpp"

namespace oriel::backend::eigen {

void run_windows(const WindowsPlan& plan, const Team& threads, std::span<void* const> arguments,
                 std::span<const graph::Scalar> parameters);

}  // namespace oriel::backend::eigen
