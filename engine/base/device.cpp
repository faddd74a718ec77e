#include "base/device.hpp"

#include <fmt/format.h>

#include <charconv>
#include <string>

#include "base/context.hpp"
#include "base/escape.hpp"
#include "base/settings.hpp"
#include "oriel/error.hpp"

namespace oriel {

Device Device::parse(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  std::string forms;
  for (const base::DeviceName& row : base::kDeviceNames) {
    forms += fmt::format("{}{}", forms.empty() ? "" : ", ", row.name);
    if (row.numbered) forms += fmt::format(" or {}:N with N from 0 to {}", row.name, base::kMostDevices - 1);
    if (name != row.name) continue;
    if (colon == std::string_view::npos) return {row.kind, 0, 0};
    const std::string_view digits = text.substr(colon + 1);
    const char* const end = digits.data() + digits.size();
    std::uint8_t index = 0;
    const auto [stop, fault] = std::from_chars(digits.data(), end, index);
    if (fault == std::errc{} && stop == end && row.numbered) return {row.kind, index, 0};
  }
  throw ArgumentError("device", fmt::format("\"{}\" names no device; use {}", base::escaped(text), forms));
}

std::string Device::str() const {
  const base::DeviceName& row = base::name_of(kind);
  const std::string text = row.numbered ? fmt::format("{}:{}", row.name, index) : std::string(row.name);
  return context == 0 ? text : fmt::format("{} of context {}", text, context);
}

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
