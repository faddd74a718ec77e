// Turns pending graphs into buffers.
#pragma once

#include <cstdint>
#include <span>

#include "base/fork_lock.hpp"
#include "graph/node.hpp"

namespace oriel::runtime {

/// Guards scheduling and running: node slots, walk marks, the schedule cache. Recursive, because a user's deleter may
/// come back. A fork waits for it.
inline base::ForkMutex& lock() { return base::fork_mutex(base::ForkLock::runtime); }

/// Schedules and runs everything the roots need, together; on return each root holds its buffer. On an error nothing is
/// changed: every input stays usable. Thread-safe.
void realize(std::span<const graph::NodePtr> roots);

/// Counters since the start, for tests and explain.
struct Counters {
  std::uint64_t schedules_built = 0;   // compiled from scratch
  std::uint64_t schedules_reused = 0;  // found by their key
  std::uint64_t kernels_compiled = 0;
  std::uint64_t kernels_launched = 0;
};
Counters counters();
/// Forgets compiled schedules and kernels (for benchmarks of first runs).
void clear_caches();

}  // namespace oriel::runtime
