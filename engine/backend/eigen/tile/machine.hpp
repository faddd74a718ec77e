// Runs plans.
#pragma once

#include <span>
#include <vector>

#include "backend/eigen/tile/plan.hpp"
#include "backend/eigen/tile/threads.hpp"

namespace oriel::backend::eigen {

/// Below this many element instructions a kernel is done before another thread has woken up.
inline constexpr double kParallelWork = 32 * 1024;
/// Of a task, so that handing it out costs nothing beside it.
inline constexpr double kTaskWork = 128 * 1024;
inline constexpr std::int64_t kTasksPerThread = 8;

/// Throws InternalError where there are fewer buffers or scalars than the plan takes.
void check_launch(const Plan& plan, std::span<void* const> arguments, std::span<const graph::Scalar> parameters);

/// Are the inner points of one row shared among so many threads?
bool shares_rows(const Plan& plan, int threads);

/// Joins what the chunks of a reduction gave, n values each, in the order in which blocks are joined; returns where the
/// whole is. A chunk is a power of two of blocks, the last one perhaps less.
char* join_chunks(const isa::ReduceFns& fns, const std::vector<char*>& values, std::int64_t n);

/// Runs `plan` once over the given buffers; returns when all is written.
void run_plan(const Plan& plan, const Team& threads, std::span<void* const> arguments,
              std::span<const graph::Scalar> parameters);

}  // namespace oriel::backend::eigen
