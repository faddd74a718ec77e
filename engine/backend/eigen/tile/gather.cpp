// Elements at positions that were computed.
#include <algorithm>
#include <cstring>

#include "backend/eigen/tile/worker.hpp"

namespace oriel::backend::eigen {
namespace {

// Positions that are looked at together, because they may be those of a row.
constexpr std::int64_t kRun = 64;

/// Are kRun positions one after the other?
bool successive(const std::int64_t* at) {
  if (at[kRun - 1] - at[0] != kRun - 1) return false;
  std::int64_t apart = 0;
  for (std::int64_t i = 0; i < kRun; ++i) apart |= at[i] ^ (at[0] + i);
  return apart == 0;
}

}  // namespace

// Reads element by element, or rows at a time. Positions outside the buffer give 0.
void Worker::pick(const TileStep& step, const Tile& tile) {
  const MemoryAccess& r = access(step);
  const auto* at = static_cast<const std::int64_t*>(slots_[step.a]);
  slots_[step.dst] = own_register(step.dst);
  char* dst = static_cast<char*>(slots_[step.dst]);
  const std::int64_t n = tile.size();
  const auto inside = [&](std::int64_t i) { return at[i] >= 0 && at[i] < r.elements; };
  if (!r.same) {
    for (std::int64_t i = 0; i < n; ++i) {
      std::memset(dst + (i << step.log_bytes), 0, std::size_t{1} << step.log_bytes);
      if (inside(i)) r.copy(dst + (i << step.log_bytes), 0, 1, address(launch_, r, at[i]), 0, 0, 1, 1);
    }
    return;
  }
  const auto plain = [&](auto zero) {
    using T = decltype(zero);
    const char* source = static_cast<const char*>(address(launch_, r, 0));
    constexpr auto bytes = static_cast<std::int64_t>(sizeof(T));
    for (std::int64_t i = 0; i < n;) {
      const std::int64_t end = std::min(i + kRun, n);
      if (end - i == kRun && inside(i) && inside(end - 1) && successive(at + i)) {
        std::memcpy(dst + i * bytes, source + at[i] * bytes, static_cast<std::size_t>(kRun * bytes));
        i = end;
        continue;
      }
      for (; i < end; ++i) {
        T value = 0;
        if (inside(i)) std::memcpy(&value, source + at[i] * bytes, sizeof(T));
        std::memcpy(dst + i * bytes, &value, sizeof(T));
      }
    }
  };
  switch (r.bytes) {
    case 1:
      return plain(std::uint8_t{});
    case 2:
      return plain(std::uint16_t{});
    case 4:
      return plain(std::uint32_t{});
    default:
      return plain(std::uint64_t{});
  }
}

// Reads rows of successive elements. The register of the positions holds the first of each row.
void Worker::pick_rows(const TileStep& step, const Tile& tile) {
  const MemoryAccess& r = access(step);
  const auto* at = static_cast<const std::int64_t*>(slots_[step.a]);
  // A part of a row is read in place, if nothing writes to its memory.
  if (tile.rows == 1 && r.slack && at[0] >= 0 && at[0] <= r.elements - tile.cols) {
    if (void* memory = in_place(launch_, r, at[0], tile.cols)) {
      slots_[step.dst] = memory;
      return;
    }
  }
  slots_[step.dst] = own_register(step.dst);
  char* dst = static_cast<char*>(slots_[step.dst]);
  const std::int64_t row = tile.cols << step.log_bytes;
  for (std::int64_t i = 0; i < tile.rows; ++i, dst += row) {
    // Positions may be anything outside of the buffer.
    const bool none = at[i] <= -tile.cols || at[i] >= r.elements;
    const std::int64_t skip = none || at[i] >= 0 ? 0 : -at[i];
    const std::int64_t end = none ? 0 : std::min(r.elements - at[i], tile.cols);
    if (end - skip < tile.cols) std::memset(dst, 0, static_cast<std::size_t>(row));
    if (skip < end)
      r.copy(dst + (skip << step.log_bytes), 0, 1, address(launch_, r, at[i] + skip), 0, 1, 1, end - skip);
  }
}

}  // namespace oriel::backend::eigen
