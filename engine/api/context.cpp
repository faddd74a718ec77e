#include "oriel/context.hpp"

#include "backend/backend.hpp"
#include "base/context.hpp"

namespace oriel {

namespace {

std::uint16_t opened(const ContextOptions& options) {
  const std::uint16_t number = base::open_context(options);
  try {
    // A device that is not there is told of now.
    backend::backend_for(base::default_device(base::context_state(number)));
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
  static const Context& context = *new Context(Standard{});  // never ends
  return context;
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
