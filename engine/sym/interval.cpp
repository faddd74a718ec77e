#include "sym/interval.hpp"

#include <algorithm>

namespace oriel::sym {
namespace {

__extension__ using Wide = __int128;

// An infinite bound stands for 2^63 here, so that its products with other bounds saturate and its product with 0 is 0.
Wide wide_lo(Interval a) noexcept { return a.lo; }
Wide wide_hi(Interval a) noexcept { return a.has_hi() ? Wide(a.hi) : Wide(1) << 63; }

std::int64_t saturated(Wide value) noexcept {
  return static_cast<std::int64_t>(std::clamp(value, Wide(Interval::kMinusInfinity), Wide(Interval::kInfinity)));
}

Interval wide_interval(Wide lo, Wide hi) noexcept { return {saturated(lo), saturated(hi)}; }

std::int64_t floor_quotient(std::int64_t a, std::int64_t b) noexcept {  // for b > 0
  return a / b - (a % b < 0 ? 1 : 0);
}

}  // namespace

Interval operator+(Interval a, Interval b) noexcept {
  return {a.has_lo() && b.has_lo() ? saturated(Wide(a.lo) + b.lo) : Interval::kMinusInfinity,
          a.has_hi() && b.has_hi() ? saturated(Wide(a.hi) + b.hi) : Interval::kInfinity};
}

Interval operator-(Interval a) noexcept {
  return {a.has_hi() ? saturated(-Wide(a.hi)) : Interval::kMinusInfinity,
          a.has_lo() ? saturated(-Wide(a.lo)) : Interval::kInfinity};
}

Interval operator-(Interval a, Interval b) noexcept { return a + -b; }

Interval operator*(Interval a, Interval b) noexcept {
  const Wide corners[] = {wide_lo(a) * wide_lo(b), wide_lo(a) * wide_hi(b), wide_hi(a) * wide_lo(b),
                          wide_hi(a) * wide_hi(b)};
  const auto [least, greatest] = std::minmax_element(std::begin(corners), std::end(corners));
  return wide_interval(*least, *greatest);
}

Interval floor_div(Interval a, Interval b) noexcept {
  if (a.empty() || b.empty() || b.contains(0)) return {};
  if (b.hi < 0) {
    a = -a;
    b = -b;
  }
  Interval result;
  if (a.lo >= 0) {
    result.lo = b.has_hi() ? a.lo / b.hi : 0;
  } else if (a.has_lo()) {
    result.lo = floor_quotient(a.lo, b.lo);
  }
  if (a.hi < 0) {
    result.hi = b.has_hi() ? floor_quotient(a.hi, b.hi) : -1;
  } else if (a.has_hi()) {
    result.hi = a.hi / b.lo;
  }
  return result;
}

Interval mod(Interval a, Interval b) noexcept {
  if (a.empty() || b.empty() || b.contains(0)) return {};
  if (b.hi < 0) return -mod(-a, -b);  // a % b == -((-a) % (-b))
  if (a.lo >= 0 && a.hi < b.lo) return a;
  if (b.is_point() && a.has_lo() && a.has_hi()) {
    const std::int64_t quotient = floor_quotient(a.lo, b.lo);
    if (quotient == floor_quotient(a.hi, b.lo)) {  // `a` lies between two multiples
      const Wide multiple = Wide(quotient) * b.lo;
      return wide_interval(a.lo - multiple, a.hi - multiple);
    }
  }
  Interval result{0, b.has_hi() ? b.hi - 1 : Interval::kInfinity};
  if (a.lo >= 0) result.hi = std::min(result.hi, a.hi);
  return result;
}

Interval nonzero(Interval divisor) noexcept {
  if (divisor.lo == 0 && divisor.hi > 0) divisor.lo = 1;
  if (divisor.hi == 0 && divisor.lo < 0) divisor.hi = -1;
  return divisor;
}

Interval min(Interval a, Interval b) noexcept { return {std::min(a.lo, b.lo), std::min(a.hi, b.hi)}; }
Interval max(Interval a, Interval b) noexcept { return {std::max(a.lo, b.lo), std::max(a.hi, b.hi)}; }

Interval power(Interval a, std::int64_t exponent) noexcept {
  if (exponent < 0) return {};
  Interval result = Interval::point(1);
  const bool even = exponent % 2 == 0;
  // Beyond 64 factors the powers of all bounds except -1, 0 and 1 are infinite. Their powers repeat with period 2.
  for (std::int64_t k = 0; k < (exponent <= 64 ? exponent : 64 + exponent % 2); ++k) result = result * a;
  if (even && exponent > 0) result.lo = std::max<std::int64_t>(result.lo, 0);
  return result;
}

Interval intersect(Interval a, Interval b) noexcept { return {std::max(a.lo, b.lo), std::min(a.hi, b.hi)}; }
Interval hull(Interval a, Interval b) noexcept { return {std::min(a.lo, b.lo), std::max(a.hi, b.hi)}; }

std::optional<bool> known_equal(Interval a, Interval b) noexcept {
  if (a.is_point() && a == b) return true;
  if (intersect(a, b).empty()) return false;
  return std::nullopt;
}

std::optional<bool> known_less(Interval a, Interval b) noexcept {
  if (a.has_hi() && b.has_lo() && a.hi < b.lo) return true;
  if (a.has_lo() && b.has_hi() && a.lo >= b.hi) return false;
  return std::nullopt;
}

std::optional<bool> known_less_equal(Interval a, Interval b) noexcept {
  const std::optional<bool> greater = known_less(b, a);
  return greater ? std::optional<bool>(!*greater) : std::nullopt;
}

std::string to_string(Interval interval) {
  return "[" + (interval.has_lo() ? std::to_string(interval.lo) : "-oo") + ", " +
         (interval.has_hi() ? std::to_string(interval.hi) : "oo") + "]";
}

}  // namespace oriel::sym
