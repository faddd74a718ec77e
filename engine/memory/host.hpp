// The host's memory, with a pool of released blocks.
#pragma once

#include <cstddef>
#include <memory>

#include "memory/buffer.hpp"
#include "oriel/memory.hpp"

namespace oriel::mem {

/// The longest that a pooled block may be told to stay: in nanoseconds, it is far from 2^63.
inline constexpr double kMostSeconds = 1e9;

/// What a huge page holds.
inline constexpr std::size_t kHugePage = std::size_t{2} << 20;

/// Keeps released blocks by size class and hands them out again: pages that the system gives anew cost more than most
/// kernels. Thread safety: every member may be called from any thread.
class HostAllocator : public Allocator {
 public:
  bool on_host() const override { return true; }
  virtual MemoryOptions options() const = 0;
  /// Released blocks beyond `pool_bytes`, or older than `pool_seconds`, go back to the system.
  virtual void set_options(const MemoryOptions& options) = 0;
  /// As if `seconds` had passed, for tests.
  virtual void pass_time(double seconds) = 0;
};

/// Memory on borders of huge pages, with advice about them; std::free gives it back. Null where there is none.
void* advised_memory(std::size_t bytes, HugePages pages);
/// Half of the machine's memory pooled, and the rest as MemoryOptions has it.
MemoryOptions default_options();
/// The defaults with what ORIEL_POOL_BYTES, ORIEL_POOL_SECONDS and ORIEL_HUGE_PAGES say. Throws ArgumentError.
MemoryOptions options_from_environment();
/// The one of the default context, and of all scratch memory. The first call reads the environment and throws as above.
std::shared_ptr<HostAllocator> host_allocator();
/// A pool of its own: for the CPU device of another context, and for tests.
std::shared_ptr<HostAllocator> make_host_allocator(const MemoryOptions& options = default_options(),
                                                   Device device = {});

}  // namespace oriel::mem
