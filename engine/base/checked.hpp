// 64-bit arithmetic that reports overflow. Decision procedures use it once sizes are known numbers.
#pragma once

#include <cstdint>
#include <numeric>

#include "oriel/symint.hpp"

namespace oriel::detail {

/// Thrown when a result does not fit. A decision procedure catches it and answers "not decided".
struct ArithmeticOverflow {};

/// A checked int64. Division rounds towards minus infinity; the remainder has the divisor's sign. Unlike SymInt it is
/// never symbolic and builds no error message, so it stays cheap inside a search.
class Int {
 public:
  constexpr Int() noexcept = default;
  constexpr Int(std::int64_t value) noexcept : value_(value) {}  // NOLINT(google-explicit-constructor)
  explicit Int(SymInt value) noexcept : value_(value.value()) {}

  constexpr std::int64_t value() const noexcept { return value_; }

  friend Int operator+(Int a, Int b) {
    std::int64_t r = 0;
    if (__builtin_add_overflow(a.value_, b.value_, &r)) throw ArithmeticOverflow();
    return r;
  }
  friend Int operator-(Int a, Int b) {
    std::int64_t r = 0;
    if (__builtin_sub_overflow(a.value_, b.value_, &r)) throw ArithmeticOverflow();
    return r;
  }
  friend Int operator*(Int a, Int b) {
    std::int64_t r = 0;
    if (__builtin_mul_overflow(a.value_, b.value_, &r)) throw ArithmeticOverflow();
    return r;
  }
  friend Int operator/(Int a, Int b) {
    if (narrow(a, b)) return static_cast<std::uint32_t>(a.value_) / static_cast<std::uint32_t>(b.value_);
    if (b.value_ == -1) return Int(0) - a;
    const std::int64_t q = a.value_ / b.value_;
    return q - (q * b.value_ != a.value_ && ((a.value_ < 0) != (b.value_ < 0)) ? 1 : 0);
  }
  friend Int operator%(Int a, Int b) {
    if (narrow(a, b)) return static_cast<std::uint32_t>(a.value_) % static_cast<std::uint32_t>(b.value_);
    if (b.value_ == -1) return 0;
    const std::int64_t r = a.value_ % b.value_;
    return r != 0 && ((r < 0) != (b.value_ < 0)) ? r + b.value_ : r;
  }
  Int operator-() const { return Int(0) - *this; }
  Int& operator+=(Int b) { return *this = *this + b; }
  Int& operator-=(Int b) { return *this = *this - b; }
  Int& operator*=(Int b) { return *this = *this * b; }

  friend constexpr auto operator<=>(Int a, Int b) noexcept = default;  // NOLINT(modernize-use-nullptr)

 private:
  // 32-bit division is several times faster than 64-bit division on many processors, and most sizes fit.
  static bool narrow(Int a, Int b) noexcept {
    return ((static_cast<std::uint64_t>(a.value_) | static_cast<std::uint64_t>(b.value_)) >> 32) == 0;
  }

  std::int64_t value_ = 0;
};

inline Int ceil_div(Int a, Int b) { return -((-a) / b); }
inline Int abs(Int a) { return a < 0 ? -a : a; }
inline Int gcd(Int a, Int b) { return std::gcd(a.value(), b.value()); }

}  // namespace oriel::detail
