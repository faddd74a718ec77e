// Runs plans.
#pragma once

#include <span>

#include "backend/eigen/plan.hpp"
#include "backend/eigen/threads.hpp"

namespace oriel::backend::eigen {

/// Throws InternalError where there are fewer buffers or scalars than the plan takes.
void check_launch(const Plan& plan, std::span<void* const> arguments, std::span<const graph::Scalar> parameters);

/// Are the inner points of one row shared among so many threads?
bool shares_rows(const Plan& plan, int threads);

/// Runs `plan` once over the given buffers; returns when all is written.
void run_plan(const Plan& plan, Threads& threads, std::span<void* const> arguments,
              std::span<const graph::Scalar> parameters);

}  // namespace oriel::backend::eigen
