#include "oriel/context.hpp"

#include <atomic>
#include <memory>

#include "api/print_options.hpp"
#include "backend/backend.hpp"
#include "base/by_use.hpp"
#include "base/context.hpp"
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

}  // namespace oriel
