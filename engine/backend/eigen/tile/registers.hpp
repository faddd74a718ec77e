// Allocates the registers of an arena. A freed register goes to the next value of its size.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace oriel::backend::eigen {

class Registers {
 public:
  /// Registers of `length` elements, starting at arena offset `base`.
  Registers(std::int64_t base, std::int64_t length) : end_(base), length_(length) {}

  /// The arena offset of a register for elements of 1 << log_bytes bytes.
  std::int64_t take(int log_bytes) {
    auto& pool = free_[static_cast<std::size_t>(log_bytes)];
    if (!pool.empty()) {
      const std::int64_t offset = pool.back();
      pool.pop_back();
      return offset;
    }
    const std::int64_t offset = end_;
    end_ += bytes(length_, log_bytes);
    return offset;
  }
  void give(std::int64_t offset, int log_bytes) { free_[static_cast<std::size_t>(log_bytes)].push_back(offset); }
  std::int64_t end() const noexcept { return end_; }

  /// Whole packets on cache lines of their own, plus one line between registers: registers of exactly 4096 bytes would
  /// share cache sets.
  static std::int64_t bytes(std::int64_t length, int log_bytes) {
    return (((length + 15) / 16 * 16 << log_bytes) + 63) / 64 * 64 + 64;
  }

 private:
  std::int64_t end_;
  std::int64_t length_;
  std::array<std::vector<std::int64_t>, 4> free_;
};

}  // namespace oriel::backend::eigen
