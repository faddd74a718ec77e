#include "oriel/memory.hpp"

#include <fmt/format.h>

#include "backend/backend.hpp"
#include "base/context.hpp"
#include "memory/host.hpp"
#include "oriel/error.hpp"

namespace oriel {

MemoryStatistics memory(Device device) { return backend::backend_for(device).allocator()->statistics(); }

void reset_peak_memory(Device device) { backend::backend_for(device).allocator()->reset_peak(); }

void trim_memory(std::size_t keep, Device device) { backend::backend_for(device).allocator()->trim(keep); }

namespace {

// The pool of the current context's CPU device.
std::shared_ptr<mem::HostAllocator> pool() {
  const Device cpu = backend::host_device(base::current_context_state().number());
  return std::static_pointer_cast<mem::HostAllocator>(backend::backend_for(cpu).allocator());
}

}  // namespace

MemoryOptions memory_options() { return pool()->options(); }

void set_memory_options(const MemoryOptions& options) {
  if (!(options.pool_seconds >= 0 && options.pool_seconds <= mem::kMostSeconds)) {
    throw ArgumentError("set_memory_options", fmt::format("pool_seconds is {}; accepted are 0 to {}",
                                                          options.pool_seconds, mem::kMostSeconds));
  }
  pool()->set_options(options);
}

}  // namespace oriel
