// The memory of tensors on a device: statistics, and options of the pool that keeps freed memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "oriel/api.hpp"
#include "oriel/device.hpp"

namespace ORIEL_API oriel {

/// A device's memory in bytes. Memory is counted in whole blocks: a tensor's size is rounded up to a size class. The
/// classes are 1, 1.25, 1.5 and 1.75 times each power of two, rounded up to a multiple of 64, plus 64 bytes of padding,
/// so that whole vectors can be read at the end. So 1 MiB takes 1 MiB and 64 bytes, and 1,100,000 bytes take 1,310,784.
struct MemoryStatistics {
  std::size_t live = 0;                  ///< held by tensors, by work that is running, and by captured functions
  std::size_t pooled = 0;                ///< freed by tensors and kept for the next ones
  std::size_t peak = 0;                  ///< the highest value of `live` since the start or since reset_peak_memory
  std::uint64_t requests = 0;            ///< blocks requested
  std::uint64_t system_allocations = 0;  ///< requests that the pool could not serve
};

/// The statistics of a device now; all zero on the null device. Throws DeviceError for a device that this machine
/// lacks.
///   oriel::memory().peak;
MemoryStatistics memory(Device device = default_device());
/// Sets `peak` to the present value of `live`.
void reset_peak_memory(Device device = default_device());
/// Gives pooled blocks back to the system, the largest first, until at most `keep` bytes are pooled.
void trim_memory(std::size_t keep = 0, Device device = default_device());

/// Whether blocks of 4 MiB and more use pages of 2 MiB. Such pages cost far less to allocate and to look up.
enum class HugePages : std::uint8_t {
  off,       ///< ordinary pages, even if the system would use huge ones by itself
  advise,    ///< the system is asked for them and may decline. The default
  reserved,  ///< from the administrator's reserve (vm.nr_hugepages); if it is used up, as `advise`
};

/// Options of the CPU's memory pool, of which each context has its own. Each is also an environment variable, which is
/// read at the context's first allocation. The call takes precedence.
struct MemoryOptions {
  /// ORIEL_POOL_BYTES: the most bytes that the pool keeps; by default half of the machine's memory.
  std::size_t pool_bytes = 0;
  /// ORIEL_POOL_SECONDS: blocks that stayed unused in the pool for this long go back to the system, at the next time
  /// that memory is freed to the pool. 0: they are kept for ever.
  double pool_seconds = 30;
  HugePages huge_pages = HugePages::advise;  ///< ORIEL_HUGE_PAGES=off|advise|reserved
};

/// The options in force in the current context. Throws ArgumentError if an environment variable has an invalid
/// value.
MemoryOptions memory_options();
/// Sets the options for the current context. Blocks beyond the new bound go back to the system at once. Throws
/// ArgumentError for a negative or infinite number of seconds.
///   auto options = oriel::memory_options();
///   options.pool_bytes = 1 << 30;
///   oriel::set_memory_options(options);
void set_memory_options(const MemoryOptions& options);

}  // namespace oriel
