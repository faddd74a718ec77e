// The memory that tensors take on a device: how much there is of it, and how long it is kept.
#pragma once

#include <cstddef>
#include <cstdint>

#include "oriel/device.hpp"

namespace oriel {

/// A device's memory, in bytes of whole blocks: what a tensor asked for, rounded up to a size class. These are 1, 1.25,
/// 1.5 and 1.75 times each power of two, rounded up to a multiple of 64, and 64 bytes more, of which whole vectors may
/// be read: 1 MiB takes 1 MiB and 64 bytes, 1,100,000 bytes take 1,310,784.
struct MemoryStatistics {
  std::size_t live = 0;                  ///< held by tensors, and by work that is running
  std::size_t pooled = 0;                ///< given back by tensors and kept for the next ones
  std::size_t peak = 0;                  ///< the most that was ever live, or since reset_peak_memory
  std::uint64_t requests = 0;            ///< blocks that were asked for
  std::uint64_t system_allocations = 0;  ///< of these, how many the pool did not have
};

/// What a device's tensors hold now. Throws DeviceError for a device that this machine lacks. All zero on null.
///   oriel::memory().peak;
MemoryStatistics memory(Device device = default_device());
/// Starts `peak` anew from what is live now.
void reset_peak_memory(Device device = default_device());
/// Gives pooled blocks back to the system, the largest first, until at most `keep` bytes are pooled.
void trim_memory(std::size_t keep = 0, Device device = default_device());

/// Pages of 2 MiB for blocks of 4 MiB and more: they are taken from the system, and looked up, with far less work.
enum class HugePages : std::uint8_t {
  off,       ///< ordinary pages, whatever the system would do by itself
  advise,    ///< the system is asked for them and may decline. The default
  reserved,  ///< from those that the administrator has set aside (vm.nr_hugepages); where none is left, as `advise`
};

/// How the CPU's memory is kept, a pool for each context. Each is also an environment variable, read at a context's
/// first allocation; the call wins.
struct MemoryOptions {
  std::size_t pool_bytes = 0;  ///< ORIEL_POOL_BYTES: the most that is pooled; by default half of the machine's memory
  /// ORIEL_POOL_SECONDS: pooled blocks that nobody took for this long go back to the system, at the next time that
  /// memory is given back to the pool. 0: they are kept.
  double pool_seconds = 30;
  HugePages huge_pages = HugePages::advise;  ///< ORIEL_HUGE_PAGES=off|advise|reserved
};

/// The options in force in the current context. Throws ArgumentError where an environment variable has no meaning.
MemoryOptions memory_options();
/// For the current context, from now on; blocks beyond the new bound go back at once. Throws ArgumentError for a
/// negative or infinite number of seconds.
///   auto options = oriel::memory_options();
///   options.pool_bytes = 1 << 30;
///   oriel::set_memory_options(options);
void set_memory_options(const MemoryOptions& options);

}  // namespace oriel
