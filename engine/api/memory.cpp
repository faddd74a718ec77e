#include "oriel/memory.hpp"

#include <fmt/format.h>

#include "backend/backend.hpp"
#include "memory/host.hpp"
#include "oriel/error.hpp"

namespace oriel {

MemoryStatistics memory(Device device) { return backend::backend_for(device).allocator()->statistics(); }

void reset_peak_memory(Device device) { backend::backend_for(device).allocator()->reset_peak(); }

void trim_memory(std::size_t keep, Device device) { backend::backend_for(device).allocator()->trim(keep); }

MemoryOptions memory_options() { return mem::host_allocator()->options(); }

void set_memory_options(const MemoryOptions& options) {
  if (!(options.pool_seconds >= 0 && options.pool_seconds <= mem::kMostSeconds)) {
    throw ArgumentError("set_memory_options", fmt::format("pool_seconds is {}; accepted are 0 to {}",
                                                          options.pool_seconds, mem::kMostSeconds));
  }
  mem::host_allocator()->set_options(options);
}

}  // namespace oriel
