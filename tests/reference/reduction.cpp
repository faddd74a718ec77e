#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "reference/formats.hpp"

namespace oriel::reference {

using graph::Op;

namespace {

Number extreme(Op op, DType dtype, std::span<const Number> x) {
  const bool largest = op == Op::ReduceMax;
  if (!is_floating(dtype)) {
    const int bits = width(dtype);
    Wide best = 0;
    if (dtype == DType::bool_) {
      best = largest ? 0 : 1;
    } else if (is_unsigned(dtype)) {
      best = largest ? 0 : (Wide{1} << bits) - 1;
    } else {
      best = largest ? -(Wide{1} << (bits - 1)) : (Wide{1} << (bits - 1)) - 1;
    }
    for (const Number& n : x) {
      const Wide v = widen(dtype, n.i);
      if (largest ? v > best : v < best) best = v;
    }
    return Number::integer(narrow(dtype, best));
  }
  Number out = Number::floating(largest ? -HUGE_VAL : HUGE_VAL);
  for (const Number& n : x) {
    if (std::isnan(n.f)) return Number::floating(NAN);
    out.error = std::max(out.error, n.error);
    out.f = largest ? std::max(out.f, n.f) : std::min(out.f, n.f);
  }
  if (out.f == 0) out.error = std::max(out.error, std::numeric_limits<double>::denorm_min());
  return out;
}

Number float_sum(DType dtype, std::span<const Number> x) {
  long double total = 0;
  long double sizes = 0;
  double error = 0;
  for (const Number& n : x) {
    total += n.f;
    sizes += std::fabs(n.f);
    error += n.error;
  }
  const double f = round_to(dtype, static_cast<double>(total));
  Number out = Number::floating(f);
  if (!std::isfinite(static_cast<double>(sizes))) return out;  // infinities and NaN do not depend on the order
  const double most = static_cast<double>(sizes);
  if (most > format(dtype).largest / 2) return Number::unknown();  // partial sums may overflow
  // A bound on the error of n-1 additions in any order.
  const double unit = std::ldexp(1.0, -format(dtype).digits + 1);
  out.error = error + unit * most * static_cast<double>(x.size());
  bool whole = error == 0;
  for (const Number& n : x) whole = whole && n.f == std::nearbyint(n.f);
  // Integers with a small sum are added exactly in every order.
  if (whole && most < std::ldexp(1.0, format(dtype).digits)) out.error = 0;
  if (out.f == 0) out.error = std::max(out.error, std::numeric_limits<double>::denorm_min());
  return out;
}

Number float_product(DType dtype, std::span<const Number> x) {
  long double total = 1;
  double relative = 0;
  double highest = 0;  // bounds on the exponents of partial products in any order
  double lowest = 0;
  bool special = false;
  bool zero = false;
  for (const Number& n : x) {
    total *= n.f;
    special = special || !std::isfinite(n.f);
    zero = zero || n.f == 0;
    if (n.error != 0) {
      if (std::fabs(n.f) <= 2 * n.error) return Number::unknown();
      relative += 2 * n.error / std::fabs(n.f);
    }
    if (n.f != 0 && std::isfinite(n.f)) {
      const double e = std::log2(std::fabs(n.f));
      (e > 0 ? highest : lowest) += e;
    }
  }
  const Format f = format(dtype);
  if (highest > std::log2(f.largest) - 1 || lowest < f.lowest + 1) return Number::unknown();
  Number out = Number::floating(round_to(dtype, static_cast<double>(total)));
  if (special) return out;
  if (relative > 0.1) return Number::unknown();
  relative += static_cast<double>(x.size()) * std::ldexp(1.0, -f.digits + 1);
  out.error = zero ? std::numeric_limits<double>::denorm_min() : std::fabs(out.f) * relative;
  return out;
}

// The result for no elements: 1 for Prod, all bits set for ReduceAnd, 0 for others.
std::int64_t start(Op op) { return op == Op::Prod ? 1 : op == Op::ReduceAnd ? -1 : 0; }

}  // namespace

Op combination_of(Op op) {
  switch (op) {
    case Op::Sum:
      return Op::Add;
    case Op::SumAbs:
      return Op::AbsAdd;
    case Op::Prod:
      return Op::Mul;
    case Op::ReduceMax:
      return Op::Max;
    case Op::ReduceMin:
      return Op::Min;
    case Op::ReduceOr:
      return Op::Or;
    case Op::ReduceAnd:
      return Op::And;
    default:
      throw std::logic_error("reference: " + std::string(graph::name(op)) + " is not a reduction");
  }
}

Number reduce(Op op, DType dtype, std::span<const Number> x) {
  for (const Number& n : x) {
    if (n.loose || n.nan_too) return Number::unknown();
  }
  if (op == Op::ReduceMax || op == Op::ReduceMin) return extreme(op, dtype, x);
  if (op == Op::Sum && is_floating(dtype)) return float_sum(dtype, x);
  if (op == Op::Prod && is_floating(dtype)) return float_product(dtype, x);
  if (op == Op::SumAbs) {
    std::vector<Number> sizes(x.begin(), x.end());
    for (Number& n : sizes) n.f = std::fabs(n.f);
    return float_sum(dtype, sizes);
  }
  std::int64_t total = narrow(dtype, start(op));
  for (const Number& n : x)
    total = narrow(dtype, integer_value(combination_of(op), dtype, widen(dtype, total), widen(dtype, n.i)));
  return Number::integer(total);
}

}  // namespace oriel::reference
