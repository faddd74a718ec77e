#include "base/device.hpp"

#include <fmt/format.h>

#include <charconv>

#include "base/context.hpp"
#include "base/escape.hpp"
#include "base/settings.hpp"
#include "oriel/error.hpp"

namespace oriel {

namespace {

constexpr std::string_view kKinds[] = {"eigen", "null", "opencl"};

}  // namespace

Device Device::parse(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view kind = text.substr(0, colon);
  int index = 0;
  bool good = true;
  if (colon != std::string_view::npos) {
    const std::string_view digits = text.substr(colon + 1);
    const char* end = digits.data() + digits.size();
    const auto [stop, fault] = std::from_chars(digits.data(), end, index);
    good = fault == std::errc{} && stop == end && index >= 0 && index <= 255 && kind == "opencl";
  }
  for (std::size_t k = 0; k < std::size(kKinds) && good; ++k) {
    if (kind == kKinds[k]) return {static_cast<DeviceKind>(k), static_cast<std::uint8_t>(index), 0};
  }
  throw ArgumentError("device",
                      fmt::format("\"{}\" names no device; use eigen, null, opencl or opencl:N with N from 0 to 255",
                                  base::escaped(text)));
}

std::string Device::str() const {
  const std::string_view name = kKinds[static_cast<int>(kind)];
  std::string text = kind == DeviceKind::opencl ? fmt::format("{}:{}", name, index) : std::string(name);
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
