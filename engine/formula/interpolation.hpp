// Weighted means of neighbours that may be equal, infinite or far apart.
#pragma once

#include <limits>

#include "formula/value.hpp"

namespace oriel::api {

/// Is every element neither infinite nor NaN?
inline Value is_finite(const Value& x) { return abs(x) < std::numeric_limits<double>::infinity(); }

/// x * weight, and 0 for a weight of 0 whatever x is.
inline Value weighted(const Value& x, const Value& weight) { return where(weight == 0, 0, x * weight); }

/// The number at the share t of the way from a to b, exact at 0 and 1. Where b - a passes the dtype's range the two are
/// weighted one by one, so that nothing overflows for t in [0, 1]. An infinity at one end is the result everywhere but
/// at the other end; equal infinities are the result everywhere.
inline Value between(const Value& a, const Value& b, const Value& t) {
  const Value way = b - a;
  const Value near = where(t < 0.5, a + t * way, b - way * (1 - t));
  const Value apart = where(a == b, a, weighted(a, 1 - t) + weighted(b, t));
  return where(is_finite(way), near, where(isnan(a) | isnan(b), way, apart));
}

/// Weight k of cubic convolution at the distance t behind the element before; a = -0.75.
inline Value cubic_weight(const Value& t, int k) {
  constexpr double a = -0.75;
  if (k == 0 || k == 3) {
    const Value x = k == 0 ? t + 1 : 2 - t;
    return ((x * a - 5 * a) * x + 8 * a) * x - 4 * a;
  }
  const Value x = k == 1 ? t : 1 - t;
  return (x * (a + 2) - (a + 3)) * x * x + 1;
}

}  // namespace oriel::api
