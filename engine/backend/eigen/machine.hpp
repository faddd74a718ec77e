// Runs plans.
#pragma once

#include <span>

#include "backend/eigen/plan.hpp"
#include "backend/eigen/threads.hpp"

namespace oriel::backend::eigen {

/// Runs `plan` once over the given buffers; returns when all is written.
void run_plan(const Plan& plan, Threads& threads, std::span<void* const> arguments,
              std::span<const graph::Scalar> parameters);

}  // namespace oriel::backend::eigen
