// The host's memory, with a pool of released blocks.
#pragma once

#include <cstddef>
#include <memory>

#include "memory/buffer.hpp"

namespace oriel::memory {

/// Bytes of the host allocator, slack and rounding included.
struct PoolStatistics {
  std::size_t live = 0;                // handed out
  std::size_t pooled = 0;              // released and kept for reuse
  std::size_t peak = 0;                // most that was ever live
  std::size_t system_allocations = 0;  // how often the system was asked
};

/// Keeps released blocks by size class and hands them out again: pages that the system gives anew cost more than most
/// kernels. Thread safety: every member may be called from any thread.
class HostAllocator : public Allocator {
 public:
  virtual PoolStatistics statistics() const = 0;
  /// Gives pooled blocks back to the system until at most `keep` bytes are pooled.
  virtual void trim(std::size_t keep = 0) = 0;
  /// Released blocks beyond this many pooled bytes go straight back. At first half of the machine's memory.
  virtual void set_pool_limit(std::size_t bytes) = 0;
  /// Starts `peak` anew from what is live now.
  virtual void reset_peak() = 0;
};

/// Bytes of memory that the machine has.
std::size_t machine_memory();
/// The one that all buffers on the host use.
std::shared_ptr<HostAllocator> host_allocator();
/// A pool of its own, for tests.
std::shared_ptr<HostAllocator> make_host_allocator();

}  // namespace oriel::memory
