// Ranges of integers whose ends may be infinite. Arithmetic on them encloses every result; a bound that does not fit an
// int64 becomes infinite.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

namespace oriel::sym {

/// The integers from `lo` to `hi`, both included. `lo == kMinusInfinity` and `hi == kInfinity` mean no bound.
struct Interval {
  static constexpr std::int64_t kMinusInfinity = std::numeric_limits<std::int64_t>::min();
  static constexpr std::int64_t kInfinity = std::numeric_limits<std::int64_t>::max();

  std::int64_t lo = kMinusInfinity;
  std::int64_t hi = kInfinity;

  static constexpr Interval point(std::int64_t value) noexcept { return {value, value}; }
  static constexpr Interval at_least(std::int64_t lo) noexcept { return {lo, kInfinity}; }
  static constexpr Interval truth() noexcept { return {0, 1}; }

  constexpr bool has_lo() const noexcept { return lo != kMinusInfinity; }
  constexpr bool has_hi() const noexcept { return hi != kInfinity; }
  constexpr bool empty() const noexcept { return lo > hi; }
  constexpr bool is_point() const noexcept { return lo == hi && has_lo() && has_hi(); }
  constexpr bool contains(std::int64_t value) const noexcept { return lo <= value && value <= hi; }

  friend constexpr bool operator==(const Interval&, const Interval&) noexcept = default;
};

Interval operator+(Interval a, Interval b) noexcept;
Interval operator-(Interval a) noexcept;
Interval operator-(Interval a, Interval b) noexcept;
/// The smallest interval that contains all products; 0 times infinity is 0.
Interval operator*(Interval a, Interval b) noexcept;
/// Quotients rounded towards minus infinity; unbounded if `b` contains 0.
Interval floor_div(Interval a, Interval b) noexcept;
/// Remainders with the divisor's sign; unbounded if `b` contains 0.
Interval mod(Interval a, Interval b) noexcept;
/// A divisor's range without a 0 at its end, because a quotient by 0 has no value.
Interval nonzero(Interval divisor) noexcept;
Interval min(Interval a, Interval b) noexcept;
Interval max(Interval a, Interval b) noexcept;
/// `a` to a known power; unbounded for a negative exponent.
Interval power(Interval a, std::int64_t exponent) noexcept;
/// The intersection; empty if they have no number in common.
Interval intersect(Interval a, Interval b) noexcept;
/// The smallest interval that contains both.
Interval hull(Interval a, Interval b) noexcept;

/// Whether a == b (a < b, a <= b) for all, for no, or for some numbers of the intervals (nullopt).
std::optional<bool> known_equal(Interval a, Interval b) noexcept;
std::optional<bool> known_less(Interval a, Interval b) noexcept;
std::optional<bool> known_less_equal(Interval a, Interval b) noexcept;

/// "[2, oo]", "[-oo, 5]".
std::string to_string(Interval interval);

}  // namespace oriel::sym
