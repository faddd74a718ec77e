#include "runtime/launch_step.hpp"

#include "memory/host.hpp"
#include "runtime/observe.hpp"

namespace oriel::runtime {

namespace {

/// Copies the first argument's bytes to the second argument. Waits for all earlier work of the source's device.
void copy(const LaunchStep& step, std::span<void* const> arguments) {
  const auto bytes = static_cast<std::size_t>(step.copied_bytes);
  const auto from = step.copied_from->allocator(), to = step.device->allocator();
  if (from->on_host()) {
    to->write(arguments[1], arguments[0], bytes);
  } else if (to->on_host()) {
    from->read(arguments[0], arguments[1], bytes);
  } else {
    const mem::Buffer between(mem::host_allocator(), bytes);
    from->read(arguments[0], between.data(), bytes);
    to->write(arguments[1], between.data(), bytes);
  }
}

void launch(const LaunchStep& step, std::span<void* const> arguments, std::span<const graph::Scalar> parameters) {
  if (step.kernel == nullptr)
    copy(step, arguments);
  else
    step.device->launch(*step.kernel, arguments, parameters);
}

}  // namespace

double launch_step(const LaunchStep& step, std::span<void* const> arguments, std::span<const graph::Scalar> parameters,
                   bool timed) {
  if (!timed) {
    launch(step, arguments, parameters);
    return 0;
  }
  if (step.copied_from != nullptr) step.copied_from->synchronize();
  step.device->synchronize();
  const auto start = now();
  launch(step, arguments, parameters);
  step.device->synchronize();
  return seconds_since(start);
}

}  // namespace oriel::runtime
