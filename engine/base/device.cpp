#include "base/device.hpp"

#include "base/context.hpp"
#include "base/settings.hpp"

namespace oriel {

Device default_device() { return base::default_device(base::current_context_state()); }

namespace base {

namespace {

std::uint32_t pack(Device device) { return static_cast<std::uint32_t>(device.kind) << 8 | device.index; }

}  // namespace

Device default_device(ContextState& context) {
  std::uint32_t slot = context.default_device.load(std::memory_order_relaxed);
  if (slot == ContextState::kUnset) {
    const auto text = env_text("ORIEL_DEVICE");
    const std::uint32_t first = pack(text ? Device::parse(*text) : Device::eigen());
    context.default_device.compare_exchange_strong(slot, first, std::memory_order_relaxed);
    slot = context.default_device.load(std::memory_order_relaxed);
  }
  return {static_cast<DeviceKind>(slot >> 8), static_cast<std::uint8_t>(slot & 0xff), context.number()};
}

void store_default_device(Device device) noexcept {
  current_context_state().default_device.store(pack(device), std::memory_order_relaxed);
}

}  // namespace base

}  // namespace oriel
