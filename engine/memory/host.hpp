// The allocator of host memory, with a pool of freed blocks.
#pragma once

#include <cstddef>
#include <memory>

#include "memory/buffer.hpp"
#include "oriel/memory.hpp"

namespace oriel::mem {

/// The largest value of pool_seconds. In nanoseconds it is far below 2^63.
inline constexpr double kMostSeconds = 1e9;

/// Bytes of a huge page.
inline constexpr std::size_t kHugePage = std::size_t{2} << 20;

/// Keeps freed blocks by size class and reuses them, because new pages from the system cost more than most kernels.
/// Thread safety: every member may be called from any thread.
class HostAllocator : public Allocator {
 public:
  bool on_host() const override { return true; }
  virtual MemoryOptions options() const = 0;
  /// Sets the options. Freed blocks beyond `pool_bytes`, or older than `pool_seconds`, go back to the system.
  virtual void set_options(const MemoryOptions& options) = 0;
  /// Acts as if `seconds` had passed. For tests.
  virtual void pass_time(double seconds) = 0;
};

/// Memory aligned to huge pages, with advice to the system about them. Free it with std::free. Null if there is none.
void* advised_memory(std::size_t bytes, HugePages pages);
/// The defaults of MemoryOptions, with pool_bytes half of the machine's memory.
MemoryOptions default_options();
/// The defaults, overridden by ORIEL_POOL_BYTES, ORIEL_POOL_SECONDS and ORIEL_HUGE_PAGES. Throws ArgumentError for bad
/// values.
MemoryOptions options_from_environment();
/// The allocator of the default context and of all scratch memory. The first call reads the environment and throws as
/// options_from_environment does.
std::shared_ptr<HostAllocator> host_allocator();
/// An allocator with a pool of its own: for the CPU device of another context, and for tests.
std::shared_ptr<HostAllocator> make_host_allocator(const MemoryOptions& options = default_options(),
                                                   Device device = {});

}  // namespace oriel::mem
