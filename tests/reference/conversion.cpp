// From one dtype to another: by value and by bits.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "reference/formats.hpp"

namespace oriel::reference {

namespace {

std::int64_t saturate(DType dtype, double value) {
  if (std::isnan(value)) return 0;
  const int bits = width(dtype);
  const double low = is_unsigned(dtype) ? 0 : -std::ldexp(1.0, bits - 1);
  const double high = std::ldexp(1.0, is_unsigned(dtype) ? bits : bits - 1);
  const double whole = std::trunc(value);
  if (whole < low) return is_unsigned(dtype) ? 0 : static_cast<std::int64_t>(low);
  if (whole >= high) {
    if (bits == 64) return is_unsigned(dtype) ? -1 : INT64_MAX;
    return static_cast<std::int64_t>(high) - 1;
  }
  return dtype == DType::uint64 ? static_cast<std::int64_t>(static_cast<std::uint64_t>(whole))
                                : static_cast<std::int64_t>(whole);
}

std::int64_t float_to_integer(DType to, double value) {
  return to == DType::bool_ ? std::int64_t{value != 0} : saturate(to, value);
}

// Converts a 64-bit integer to float32 directly, so that it rounds once. Via double it would round twice.
double integer_to_float(DType from, DType to, std::int64_t value) {
  const long double exact = from == DType::uint64 ? static_cast<long double>(static_cast<std::uint64_t>(value))
                                                  : static_cast<long double>(value);
  if (to == DType::float64) return static_cast<double>(exact);
  return round_to(to, static_cast<float>(exact));
}

// The bits of a float of 16 or 32 bits, assembled from its parts.
std::uint64_t encode(DType dtype, double value) {
  const Format f = format(dtype);
  const int bits = width(dtype);
  const int fraction = f.digits - 1;
  const std::uint64_t sign = std::signbit(value) ? std::uint64_t{1} << (bits - 1) : 0;
  const std::uint64_t all = ((std::uint64_t{1} << (bits - 1 - fraction)) - 1) << fraction;
  if (std::isinf(value)) return sign | all;
  if (value == 0) return sign;
  const double size = std::fabs(value);
  const int exponent = std::max(std::ilogb(size), f.lowest);
  const auto significand = static_cast<std::uint64_t>(std::ldexp(size, fraction - exponent));
  // The hidden bit of a normal number carries into the exponent.
  return sign | ((static_cast<std::uint64_t>(exponent - f.lowest) << fraction) + significand);
}

double decode(DType dtype, std::uint64_t raw) {
  const Format f = format(dtype);
  const int bits = width(dtype);
  const int fraction = f.digits - 1;
  const std::uint64_t mantissa = raw & ((std::uint64_t{1} << fraction) - 1);
  const int stored = static_cast<int>(raw >> fraction & ((std::uint64_t{1} << (bits - 1 - fraction)) - 1));
  const int top = (1 << (bits - 1 - fraction)) - 1;
  const bool negative = (raw >> (bits - 1) & 1) != 0;
  double size = 0;
  if (stored == top) {
    size = mantissa == 0 ? HUGE_VAL : NAN;
  } else if (stored == 0) {
    size = std::ldexp(static_cast<double>(mantissa), f.lowest - fraction);
  } else {
    size = std::ldexp(static_cast<double>(mantissa | std::uint64_t{1} << fraction), f.lowest - fraction + stored - 1);
  }
  return negative ? -size : size;
}

}  // namespace

Number cast(DType from, DType to, const Number& x) {
  if (!is_floating(from)) {
    return is_floating(to) ? Number::floating(integer_to_float(from, to, x.i)) : Number::integer(wrap(to, x.i));
  }
  if (is_floating(to)) {
    Number out = Number::floating(round_to(to, x.f));
    if (x.error == 0) return out;
    for (const double p : {x.f - x.error, x.f + x.error}) {
      const double corner = round_to(to, p);
      if (!same(corner, out.f) && (!std::isfinite(corner) || !std::isfinite(out.f))) return Number::unknown();
      if (std::isfinite(corner)) out.error = std::max(out.error, std::fabs(corner - out.f));
    }
    if (out.error == 0) out.error = x.error;
    return out;
  }
  const std::int64_t middle = float_to_integer(to, x.f);
  if (x.error > std::numeric_limits<double>::denorm_min()) {
    if (to == DType::bool_ && std::fabs(x.f) <= x.error) return Number::unknown();  // 0 lies within the interval
    for (const double p : {x.f - x.error, x.f + x.error}) {
      if (float_to_integer(to, p) != middle) return Number::unknown();
    }
  }
  return Number::integer(middle);
}

Number bitcast(DType from, DType to, const Number& x) {
  std::uint64_t raw = static_cast<std::uint64_t>(x.i);
  if (is_floating(from)) {
    if (x.error != 0 || std::isnan(x.f)) return Number::unknown();  // a NaN has many patterns
    raw = encode(from, x.f);
  } else if (width(from) < 64) {
    raw &= (std::uint64_t{1} << width(from)) - 1;
  }
  if (is_floating(to)) return Number::floating(decode(to, raw));
  return Number::integer(wrap(to, static_cast<std::int64_t>(raw)));
}

}  // namespace oriel::reference
