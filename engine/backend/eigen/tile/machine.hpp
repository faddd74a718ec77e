// The tile machine: runs the instructions of a kernel tile by tile.
#pragma once

#include <span>
#include <vector>

#include "backend/eigen/tile/plan.hpp"
#include "backend/eigen/tile/threads.hpp"

namespace oriel::backend::eigen {

/// With fewer element instructions than this, a kernel ends before another thread has woken up.
inline constexpr double kParallelWork = 32 * 1024;
/// Element instructions of a task, so many that handing it out costs almost nothing in comparison.
inline constexpr double kTaskWork = 128 * 1024;
inline constexpr std::int64_t kTasksPerThread = 8;

/// Throws InternalError if there are fewer buffers or scalars than the plan takes.
void check_launch(const Plan& plan, std::span<void* const> arguments, std::span<const graph::Scalar> parameters);

/// Do this many threads share the inner points of one row?
bool shares_rows(const Plan& plan, int threads);

/// Combines the results of a reduction's chunks, n values each, in the order in which blocks are combined. Returns
/// where the result is. A chunk has a power of two of blocks; the last chunk may have fewer.
char* join_chunks(const isa::ReduceFns& fns, const std::vector<char*>& values, std::int64_t n);

/// Runs a plan that takes no other path, tile by tile.
void run_tiles(const Plan& plan, const Team& threads, std::span<void* const> arguments,
               std::span<const graph::Scalar> parameters);

}  // namespace oriel::backend::eigen
