#include "base/device.hpp"

#include <fmt/format.h>

#include <atomic>
#include <charconv>

#include "base/escape.hpp"
#include "base/settings.hpp"
#include "oriel/error.hpp"

namespace oriel {

namespace {

constexpr std::string_view kKinds[] = {"eigen", "null", "opencl"};

// kind << 8 | index; kUnset until the environment has been read.
constexpr std::uint32_t kUnset = 0xffffffff;
std::atomic<std::uint32_t> default_slot{kUnset};

std::uint32_t pack(Device device) { return static_cast<std::uint32_t>(device.kind) << 8 | device.index; }

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
    if (kind == kKinds[k]) return {static_cast<DeviceKind>(k), static_cast<std::uint8_t>(index)};
  }
  throw ArgumentError("device",
                      fmt::format("\"{}\" names no device; use eigen, null, opencl or opencl:N with N from 0 to 255",
                                  base::escaped(text)));
}

std::string Device::str() const {
  const std::string_view text = kKinds[static_cast<int>(kind)];
  return kind == DeviceKind::opencl ? fmt::format("{}:{}", text, index) : std::string(text);
}

Device default_device() {
  std::uint32_t slot = default_slot.load(std::memory_order_relaxed);
  if (slot == kUnset) {
    const auto text = base::env_text("ORIEL_DEVICE");
    const std::uint32_t first = pack(text ? Device::parse(*text) : Device::eigen());
    default_slot.compare_exchange_strong(slot, first, std::memory_order_relaxed);
    slot = default_slot.load(std::memory_order_relaxed);
  }
  return {static_cast<DeviceKind>(slot >> 8), static_cast<std::uint8_t>(slot & 0xff)};
}

namespace base {
void store_default_device(Device device) noexcept { default_slot.store(pack(device), std::memory_order_relaxed); }
}  // namespace base

}  // namespace oriel
