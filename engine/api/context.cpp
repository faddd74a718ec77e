#include <fmt/format.h>

#include <atomic>
#include <memory>

#include "api/print_options.hpp"
#include "backend/backend.hpp"
#include "base/by_use.hpp"
#include "base/context.hpp"
#include "base/device.hpp"
#include "memory/host.hpp"
#include "oriel/context.hpp"
#include "oriel/device.hpp"
#include "oriel/error.hpp"
#include "oriel/memory.hpp"
#include "oriel/tensor.hpp"
#include "runtime/observe.hpp"
#include "schedule/rule_switches.hpp"

namespace oriel {

namespace {

std::uint16_t opened(const ContextOptions& options) {
  const std::uint16_t number = base::open_context(options);
  try {
    // A device that is not there is told of now.
    base::ContextState& context = base::context_state(number);
    backend::backend_for(base::default_device(context));
    schedule::load_rules(context, options);
    if (options.print) api::set_print_options(context, *options.print, "Context");
    by_use::inspection();
    runtime::inspection().load_reports(context, options);
  } catch (...) {
    base::close_context(number);
    throw;
  }
  return number;
}

}  // namespace

Context::Context(const ContextOptions& options) : number_(opened(options)) {}

Context::~Context() {
  if (number_ != 0) base::close_context(number_);
}

const Context& Context::standard() {
  // Not a static that is made here: its lock, while it is made, could stay locked in a forked child.
  static constinit std::atomic<const Context*> made{nullptr};
  const Context* context = made.load(std::memory_order_acquire);
  if (context == nullptr) {
    std::unique_ptr<const Context> fresh(new Context(Standard{}));
    if (made.compare_exchange_strong(context, fresh.get())) context = fresh.release();
  }
  return *context;
}

Device Context::device() const { return base::default_device(base::context_state(number_)); }

Device Context::device(Device name) const noexcept {
  name.context = number_;
  return name;
}

ContextScope::ContextScope(const Context& context)
    : before_(base::enter_context(static_cast<std::uint16_t>(context.number()))) {}

ContextScope::~ContextScope() { base::enter_context(before_); }

int current_context() noexcept { return base::current_context_state().number(); }

void set_default_device(Device device) {
  const std::uint16_t current = base::current_context_state().number();
  if (device.context != 0 && device.context != current) {
    throw DeviceError("set_default_device",
                      fmt::format("{} is another context's; the current context is {}", device.str(), current));
  }
  device.context = current;
  backend::backend_for(device);  // throws where there is none
  base::store_default_device(device);
}

std::vector<Device> devices() { return backend::available_devices(); }

void synchronize(Device device) { backend::backend_for(device).synchronize(); }

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
