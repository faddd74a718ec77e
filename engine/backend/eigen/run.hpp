// Runs plans, each on its path, and tells their estimated time and what keeps them from their best.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "backend/eigen/tile/plan.hpp"
#include "backend/eigen/tile/threads.hpp"
#include "backend/kept_factors.hpp"
#include "codegen/loop_program.hpp"

namespace oriel::backend::eigen {

/// Runs `plan` once on the given buffers. Returns when everything is written. `keeping`: null if nothing is kept from
/// launch to launch.
void run_plan(const Plan& plan, const Team& threads, std::span<void* const> arguments,
              std::span<const graph::Scalar> parameters, const Keeping* keeping = nullptr);

/// The arguments of which run_plan can keep copies.
std::vector<std::size_t> packed_arguments(const Plan& plan);

/// One line for each property that keeps a program without products far from the time of its memory and arithmetic:
/// "gathers in0 element by element: rows of 4 bytes", "reads 12 of each 64 bytes of in0", "the innermost loop has 2
/// points: a vector spans several lines", "reduces rows of 16 points, fewer than the 32 lanes". They follow from
/// extents, strides and dtypes. Empty for programs whose estimated time is below 10 us.
std::vector<std::string> access_notes(const codegen::LoopProgram& program, const Plan& plan);

/// Estimated seconds of `program` on one thread of the tile machine, from its operations, weighted by the cost column
/// of the op table, and its bytes. Accurate within a factor of about 3 on current machines; equal on every machine.
double estimated_seconds(const codegen::LoopProgram& program, const Plan& plan);

}  // namespace oriel::backend::eigen
