// Runs plans, each on its path.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "backend/eigen/tile/plan.hpp"
#include "backend/eigen/tile/threads.hpp"
#include "backend/kept_factors.hpp"

namespace oriel::backend::eigen {

/// Runs `plan` once on the given buffers. Returns when everything is written. `keeping`: null if nothing is kept from
/// launch to launch.
void run_plan(const Plan& plan, const Team& threads, std::span<void* const> arguments,
              std::span<const graph::Scalar> parameters, const Keeping* keeping = nullptr);

/// The arguments of which run_plan can keep copies.
std::vector<std::size_t> packed_arguments(const Plan& plan);

}  // namespace oriel::backend::eigen
