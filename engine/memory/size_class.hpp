// The sizes of pooled blocks: a freed block serves every request of its class.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <limits>

namespace oriel::mem {

inline constexpr std::size_t kAlignment = 64;
/// Padding after the last byte, so that whole vectors can be read.
inline constexpr std::size_t kSlack = 64;
inline constexpr std::size_t kLargestBlock = static_cast<std::size_t>(std::numeric_limits<std::ptrdiff_t>::max()) / 2;
/// Four classes per power of two, rounded up to kAlignment, plus the padding. At most a quarter of a block of several
/// hundred bytes is wasted, and nothing for a power of two.
inline constexpr std::size_t kClassesPerDoubling = 4;
inline constexpr std::size_t kClasses = 64 * kClassesPerDoubling;

struct SizeClass {
  std::size_t index;
  std::size_t bytes;  // of a block, including its padding
};

/// The smallest class whose blocks hold this many bytes.
inline SizeClass class_of(std::size_t bytes) {
  const std::size_t wanted = std::max(bytes, kAlignment);
  const auto doubling = static_cast<std::size_t>(std::bit_width(wanted - 1));  // 2^(doubling-1) < wanted <= 2^doubling
  const std::size_t base = std::size_t{1} << (doubling - 1);
  const std::size_t step = base / kClassesPerDoubling;
  const std::size_t part = (wanted - base + step - 1) / step;  // 1 .. 4
  const std::size_t size = (base + part * step + kAlignment - 1) / kAlignment * kAlignment;
  return {doubling * kClassesPerDoubling + part - 1, size + kSlack};
}

/// The bytes of a block of this class.
inline std::size_t class_bytes(std::size_t index) {
  const std::size_t base = std::size_t{1} << (index / kClassesPerDoubling - 1);
  const std::size_t size = base + (index % kClassesPerDoubling + 1) * (base / kClassesPerDoubling);
  return (size + kAlignment - 1) / kAlignment * kAlignment + kSlack;
}

}  // namespace oriel::mem
