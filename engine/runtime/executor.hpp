// Turns pending graphs into buffers.
#pragma once

#include <cstdint>
#include <span>

#include "graph/node.hpp"

namespace oriel::runtime {

/// Schedules and runs everything that the roots need, in one schedule. On return each root holds its buffer. After an
/// error nothing has changed and every input stays usable.
///
/// Thread safety: any thread. Several realisations run at the same time. Each claims the pending nodes below its roots
/// (graph/order.hpp). One waits for another only if it needs a node that the other is about to realise.
void realize(std::span<const graph::NodePtr> roots);

/// Counters of the current context since its start, for tests and explain.
struct Counters {
  std::uint64_t schedules_built = 0;   // compiled from scratch
  std::uint64_t schedules_reused = 0;  // found by their key
  std::uint64_t kernels_compiled = 0;
  std::uint64_t kernels_launched = 0;
};
Counters counters();
/// Forgets the current context's compiled schedules and kernels (for benchmarks of first runs).
void clear_caches();

}  // namespace oriel::runtime
