#include "reference/number.hpp"

#include <algorithm>
#include <array>
#include <cfloat>
#include <cmath>
#include <limits>
#include <numbers>
#include <stdexcept>
#include <string>
#include <vector>

#include "reference/formats.hpp"

namespace oriel::reference {

using graph::Op;

Format format(DType dtype) {
  switch (dtype) {
    case DType::float16:
      return {11, -14, 65504};
    case DType::bfloat16:
      return {8, -126, 0x1.fep127};
    case DType::float32:
      return {24, -126, FLT_MAX};
    default:
      return {53, -1022, DBL_MAX};
  }
}

namespace {

// Rounds to nearest even by scaling so that the quantum of the number's binade is 1.
double quantise(const Format& format, double value) {
  if (value == 0 || !std::isfinite(value)) return value;
  const int exponent = std::max(std::ilogb(value), format.lowest);
  const int quantum = exponent - format.digits + 1;
  const double rounded = std::ldexp(std::nearbyint(std::ldexp(value, -quantum)), quantum);
  return std::fabs(rounded) > format.largest ? std::copysign(HUGE_VAL, value) : rounded;
}

}  // namespace

double round_to(DType dtype, double value) {
  if (dtype == DType::float64) return value;
  const double single = static_cast<float>(value);
  return dtype == DType::float32 ? single : quantise(format(dtype), single);
}

std::int64_t wrap(DType dtype, std::int64_t value) {
  if (dtype == DType::bool_) return value != 0;
  const int bits = width(dtype);
  if (bits == 64) return value;
  const std::int64_t span = std::int64_t{1} << bits;
  std::int64_t low = value & (span - 1);
  if (!is_unsigned(dtype) && low >= span / 2) low -= span;
  return low;
}

double ulp(DType dtype, double value) {
  const Format f = format(dtype);
  if (!std::isfinite(value)) return 0;
  const int exponent = value == 0 ? f.lowest : std::max(std::ilogb(value), f.lowest);
  return std::ldexp(1.0, exponent - f.digits + 1);
}

// ---- Floats, unrounded.

double float_value(Op op, DType dtype, double x, double y) {
  switch (op) {
    case Op::Neg:
      return -x;
    case Op::Abs:
      return std::fabs(x);
    case Op::Sign:
      return std::isnan(x) ? x : x > 0 ? 1 : x < 0 ? -1 : 0;
    case Op::Exp:
      return std::exp(x);
    case Op::Exp2:
      return std::exp2(x);
    case Op::Log:
      return std::log(x);
    case Op::Log2:
      return std::log2(x);
    case Op::Sqrt:
      return std::sqrt(x);
    case Op::Rsqrt:
      return 1 / std::sqrt(x);
    case Op::Sin:
      return std::sin(x);
    case Op::Cos:
      return std::cos(x);
    case Op::Tan:
      return std::tan(x);
    case Op::Tanh:
      return std::tanh(x);
    case Op::Erf:
      return std::erf(x);
    case Op::Expm1:
      return std::expm1(x);
    case Op::Log1p:
      return std::log1p(x);
    case Op::Log10:
      return std::log10(x);
    case Op::Asin:
      return std::asin(x);
    case Op::Acos:
      return std::acos(x);
    case Op::Atan:
      return std::atan(x);
    case Op::Sinh:
      return std::sinh(x);
    case Op::Cosh:
      return std::cosh(x);
    case Op::Asinh:
      return std::asinh(x);
    case Op::Acosh:
      return std::acosh(x);
    case Op::Atanh:
      return std::atanh(x);
    case Op::Erfc:
      return std::erfc(x);
    case Op::Floor:
      return std::floor(x);
    case Op::Ceil:
      return std::ceil(x);
    case Op::Round:
      return std::rint(x);
    case Op::Trunc:
      return std::trunc(x);
    case Op::Add:
      return x + y;
    case Op::Sub:
      return x - y;
    case Op::Mul:
      return x * y;
    case Op::Div:
      return x / y;
    case Op::FloorDiv: {
      // PyTorch's (c10/util/generic_math.h, div_floor_floating), each step rounded to the dtype of the computation.
      const auto rounded = [&](double value) { return round_to(is_half(dtype) ? DType::float32 : dtype, value); };
      const double r = std::fmod(x, y);
      if (y == 0) return rounded(x / y);
      double q = rounded(rounded(x - r) / y);
      if (r != 0 && (r < 0) != (y < 0)) q = rounded(q - 1);
      if (q == 0) return std::copysign(0.0, x / y);
      const double down = std::floor(q);
      return q - down > 0.5 ? rounded(down + 1) : down;
    }
    case Op::TruncDiv:
      return std::trunc(round_to(dtype == DType::float64 ? dtype : DType::float32, x / y));
    case Op::Fmod:
      return std::fmod(x, y);
    case Op::Remainder: {
      const double r = std::fmod(x, y);
      return r != 0 && (r < 0) != (y < 0) ? r + y : r;
    }
    case Op::Pow:
      return std::pow(x, y);
    case Op::Atan2:
      return std::atan2(x, y);
    case Op::Hypot:
      return std::hypot(x, y);
    case Op::Copysign:
      return std::copysign(x, y);
    case Op::AbsAdd:
      return std::fabs(x) + std::fabs(y);
    case Op::Min:
      return std::isnan(x) || std::isnan(y) ? NAN : x < y ? x : y;
    case Op::Max:
      return std::isnan(x) || std::isnan(y) ? NAN : x > y ? x : y;
    default:
      throw std::logic_error("reference: " + std::string(graph::name(op)) + " of floats");
  }
}

namespace {

// The error in units in the last place that the engine may add to that of the operands. 0: correctly rounded.
double allowed_ulps(Op op) {
  switch (op) {
    case Op::Exp:
    case Op::Exp2:
    case Op::Log:
    case Op::Log2:
    case Op::Rsqrt:
    case Op::Sin:
    case Op::Cos:
    case Op::Erf:
    case Op::Tanh:
    case Op::Hypot:
    case Op::Expm1:
    case Op::Log1p:
    case Op::Log10:
    case Op::Asin:
    case Op::Acos:
    case Op::Atan:
    case Op::Sinh:
    case Op::Cosh:
    case Op::Asinh:
    case Op::Acosh:
    case Op::Atanh:
    case Op::Erfc:
    case Op::Atan2:
      return 8;
    case Op::Tan:
    case Op::Pow:
      return 32;
    default:
      return 0;
  }
}

// Ops whose zero may have either sign.
bool zero_sign_is_free(Op op) { return op == Op::Min || op == Op::Max; }

// The number and the two ends of its error interval. The least positive error marks a zero of unknown sign.
std::array<double, 3> edges(double value, double error) {
  if (value == 0 && error <= std::numeric_limits<double>::denorm_min())
    return {error != 0 ? -0.0 : value, value, error != 0 ? 0.0 : value};
  return {value - error, value, value + error};
}

bool divides(Op op) {
  switch (op) {
    case Op::Div:
    case Op::FloorDiv:
    case Op::TruncDiv:
    case Op::Remainder:
    case Op::Fmod:
      return true;
    default:
      return false;
  }
}

// True if the interval of the operand contains a pole, where a function jumps from one infinity to the other. The ends
// of the interval alone do not show it.
bool meets_pole(Op op, const Number& x, const Number& y) {
  if (x.error == 0) return false;
  if (op == Op::Pow) return y.f - y.error < 0 && std::fabs(x.f) <= x.error;
  if (op != Op::Tan) return false;
  const auto branch = [](double value) { return std::floor(value / std::numbers::pi + 0.5); };
  return branch(x.f - x.error) != branch(x.f + x.error);
}

bool periodic(Op op) { return op == Op::Sin || op == Op::Cos || op == Op::Tan; }

// May the exponent be an integer, and may it be none? A negative base has a power in the first case alone.
bool rounding_decides_power(Op op, const Number& x, const Number& y) {
  return op == Op::Pow && y.error != 0 && x.f - x.error < 0 && std::floor(y.f + y.error) >= std::ceil(y.f - y.error);
}

// The powers of a negative base to all integers in the interval of the exponent, or NaN. Of an infinite base others are
// 0 or infinity.
Number power_or_nan(DType dtype, const Number& x, const Number& y) {
  if (x.f + x.error >= 0 || std::isinf(x.f)) return Number::unknown();
  const double first = std::ceil(y.f - y.error);
  const double last = std::floor(y.f + y.error);
  double least = HUGE_VAL;
  double most = -HUGE_VAL;
  for (const double exponent : {first, std::min(first + 1, last), std::max(first, last - 1), last}) {
    for (const double base : {x.f - x.error, x.f, x.f + x.error}) {
      const double power = float_value(Op::Pow, dtype, base, exponent);
      if (!(std::fabs(power) <= format(dtype).largest * 0.999)) return Number::unknown();
      least = std::min(least, power);
      most = std::max(most, power);
    }
  }
  Number out = Number::floating(round_to(dtype, least / 2 + most / 2));
  out.error = (most - least) / 2 + allowed_ulps(Op::Pow) * ulp(dtype, std::max(std::fabs(least), std::fabs(most)));
  out.nan_too = true;
  return out;
}

Number float_result(Op op, DType dtype, std::span<const Number> x) {
  const double a = x[0].f;
  const double b = x.size() > 1 ? x[1].f : 0;
  const double ea = x[0].error;
  const double eb = x.size() > 1 ? x[1].error : 0;
  // The float32 result of halves is rounded once more, which differs from rounding the exact result once.
  Number out = Number::floating(round_to(dtype, float_value(op, dtype, a, b)));
  if (op == Op::Copysign && std::isnan(b) && !std::isnan(a)) {  // a NaN that was computed may have either sign
    if (std::isinf(a)) return Number::unknown();
    out = Number::floating(0);
    out.error = std::max(std::fabs(a) + ea, std::numeric_limits<double>::denorm_min());
    return out;
  }
  if (periodic(op) && (ea > 0.01 || std::fabs(a) > 1e4)) return Number::unknown();
  if (meets_pole(op, x[0], x.back())) return Number::unknown();
  if (rounding_decides_power(op, x[0], x.back())) return power_or_nan(dtype, x[0], x.back());
  if (divides(op) && eb != 0 && std::fabs(b) <= eb) return Number::unknown();  // the interval of the divisor contains 0
  // If the error of the quotient is too large, the remainder may be anything.
  if ((op == Op::Remainder || op == Op::Fmod) && ea + std::fabs(a / b) * eb >= std::fabs(b) / 2) {
    if (ea != 0 || eb != 0) return Number::unknown();
  }
  double spread = 0;
  if (ea != 0 || eb != 0) {
    for (const double p : edges(a, ea)) {
      for (const double q : edges(b, eb)) {
        const double corner = round_to(dtype, float_value(op, dtype, p, q));
        if (same(corner, out.f)) continue;
        if (!std::isfinite(corner) || !std::isfinite(out.f)) return Number::unknown();
        spread = std::max(spread, std::fabs(corner - out.f));
      }
    }
  }
  // A function of an exact infinity is exact if its value is whole: exp(-inf) is 0. atan2(inf, inf), pi / 4, is not.
  const bool whole = !std::isfinite(out.f) || out.f == std::trunc(out.f);
  const double inherent = std::isinf(a) && whole && ea == 0 && eb == 0 ? 0 : allowed_ulps(op);
  if (inherent != 0 || spread != 0) {
    // The engine may overflow slightly earlier or later than exact arithmetic.
    if (std::isinf(out.f) && std::isfinite(float_value(op, DType::float64, a, b))) return Number::unknown();
    if (std::fabs(out.f) > format(dtype).largest * 0.999) return std::isinf(out.f) ? out : Number::unknown();
    out.error = 1.5 * spread;
    if (std::isfinite(out.f)) {
      out.error += std::max(inherent, 1.0) * ulp(dtype, out.f);
      if (inherent != 0) out.error += std::ldexp(1.0, format(dtype).lowest);
    }
  }
  if (out.f == 0 && (zero_sign_is_free(op) || ea != 0 || eb != 0))
    out.error = std::max(out.error, std::numeric_limits<double>::denorm_min());
  return out;
}

// ---- Integers, in 128 bits, so that nothing overflows before it is wrapped.

Number compare(Op op, DType operand, const Number& x, const Number& y) {
  const auto test = [op](auto a, auto b) {
    switch (op) {
      case Op::Eq:
        return a == b;
      case Op::Ne:
        return !(a == b);
      case Op::Lt:
        return a < b;
      default:
        return a <= b;
    }
  };
  if (!is_floating(operand)) return Number::integer(test(widen(operand, x.i), widen(operand, y.i)));
  const bool middle = test(x.f, y.f);
  // A tiny error marks a zero of unknown sign. Zeros compare equal.
  const double tiny = std::numeric_limits<double>::denorm_min();
  if (x.error <= tiny && y.error <= tiny) return Number::integer(middle);
  // The ends of two overlapping intervals may all differ, although equal numbers lie within.
  if ((op == Op::Eq || op == Op::Ne) && std::fabs(x.f - y.f) <= x.error + y.error) return Number::unknown();
  for (const double p : {x.f - x.error, x.f + x.error}) {
    for (const double q : {y.f - y.error, y.f + y.error}) {
      if (test(p, q) != middle) return Number::unknown();
    }
  }
  return Number::integer(middle);
}

Number test_float(Op op, DType operand, const Number& x) {
  if (!is_floating(operand)) return Number::integer(0);
  return Number::integer(op == Op::IsNan ? std::isnan(x.f) : std::isinf(x.f));
}

}  // namespace

Number apply(Op op, DType operand, DType result, std::span<const Number> x) {
  if (op == Op::Where) {
    if (!x[0].loose) return x[0].i != 0 ? x[1] : x[2];
    return Number::unknown();
  }
  for (const Number& n : x) {
    if (n.loose || n.nan_too) return Number::unknown();
  }
  switch (op) {
    case Op::Cast:
      return cast(operand, result, x[0]);
    case Op::Bitcast:
      return bitcast(operand, result, x[0]);
    case Op::IsNan:
    case Op::IsInf:
      return test_float(op, operand, x[0]);
    case Op::Eq:
    case Op::Ne:
    case Op::Lt:
    case Op::Le:
      return compare(op, operand, x[0], x[1]);
    default:
      break;
  }
  if (is_floating(operand)) return float_result(op, operand, x);
  const Wide y = x.size() > 1 ? widen(operand, x[1].i) : 0;
  return Number::integer(narrow(result, integer_value(op, operand, widen(operand, x[0].i), y)));
}

bool accepts(DType dtype, const Number& want, const Number& got) {
  if (want.loose) return true;
  if (!is_floating(dtype)) return want.i == got.i;
  if (same(want.f, got.f) || (want.nan_too && std::isnan(got.f))) return true;
  return std::fabs(want.f - got.f) <= want.error;
}

}  // namespace oriel::reference
