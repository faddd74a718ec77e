// Special functions by series, which fuse like other arithmetic; floats by their bits; whole numbers by fixed steps.
#include "oriel/special.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "base/parts.hpp"
#include "formula/value.hpp"
#include "oriel/error.hpp"

namespace oriel {

using api::Call;
using api::Op;
using api::Value;
using graph::NodePtr;

namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

/// f of x in float64, rounded once to the float dtype of x.
template <class F>
Tensor special(const char* name, const Operand& x, F&& f) {
  const Call call(name, x);
  const DType dtype = api::floating_dtype(api::common_dtype({&x}));
  const Value v(call, call.node(x, DType::float64, {}, api::device_of({&x})));
  return std::forward<F>(f)(v).to(dtype).tensor();
}

/// c[0] + c[1] x + c[2] x^2 + ...
template <std::size_t N>
Value polynomial(const Value& x, const std::array<double, N>& c) {
  Value sum = x.like(c[N - 1]);
  for (std::size_t k = N - 1; k-- > 0;) sum = sum * x + c[k];
  return sum;
}

// B(2k) / (2k (2k - 1)) and B(2k) / 2k for k = 1, 2, ... of Bernoulli's numbers B. From x = 8 on the terms that are
// left out are below 1e-17.
constexpr std::array<double, 8> kStirling = {1.0 / 12,   -1.0 / 360,      1.0 / 1260, -1.0 / 1680,
                                             1.0 / 1188, -691.0 / 360360, 1.0 / 156,  -3617.0 / 122400};
constexpr std::array<double, 8> kHarmonic = {1.0 / 12,  -1.0 / 120,     1.0 / 252, -1.0 / 240,
                                             1.0 / 132, -691.0 / 32760, 1.0 / 12,  -3617.0 / 8160};
constexpr int kShift = 8;

/// For x > 0: Stirling's series at x + 8, less the logarithm of x (x + 1) ... (x + 7).
Value positive_lgamma(const Value& x) {
  const Value small = x < static_cast<double>(kShift);
  const Value near = where(small, x, 1);  // the product must not overflow
  Value product = near;
  for (int k = 1; k < kShift; ++k) product = product * (near + static_cast<double>(k));
  const Value z = where(small, x + static_cast<double>(kShift), x);
  const Value inverse = 1 / z;
  const Value series = inverse * polynomial(inverse * inverse, kStirling);
  const Value far = (z - 0.5) * (log(z) - 1) + (series + (std::log(2 * std::numbers::pi) - 1) / 2);
  return where(small, far - log(product), far);
}

Value positive_digamma(const Value& x) {
  const Value small = x < static_cast<double>(kShift);
  Value sum = 1 / x;
  for (int k = 1; k < kShift; ++k) sum = sum + 1 / (x + static_cast<double>(k));
  const Value z = where(small, x + static_cast<double>(kShift), x);
  const Value inverse = 1 / z;
  const Value square = inverse * inverse;
  const Value far = log(z) - (inverse * 0.5 + square * polynomial(square, kHarmonic));
  return where(small, far - sum, far);
}

/// The distance of x to the nearest integer, times pi.
Value turn(const Value& x) { return (x - round(x)) * std::numbers::pi; }

}  // namespace

Tensor lgamma(const Operand& x) {
  base::need<base::kSpecial>("lgamma");
  return special("lgamma", x, [](const Value& v) {
    const Value below = v < 0.5;
    const Value right = positive_lgamma(where(below, 1 - v, v));
    const Value reflected = log(std::numbers::pi / abs(sin(turn(v)))) - right;
    return where(isinf(v), abs(v), where(below, reflected, right));
  });
}

Tensor digamma(const Operand& x) {
  base::need<base::kSpecial>("digamma");
  return special("digamma", x, [](const Value& v) {
    const Value below = v < 0.5;
    const Value right = positive_digamma(where(below, 1 - v, v));
    const Value angle = turn(v);
    const Value reflected = right - angle.unary(Op::Cos) * std::numbers::pi / sin(angle);
    const Value whole = (v < 0) & (v == v.unary(Op::Floor));
    const Value regular = where(below, reflected, right);
    return where(v == 0, -(1 / v),
                 where(whole, std::numeric_limits<double>::quiet_NaN(), where(v == kInfinite, kInfinite, regular)));
  });
}

Tensor erfinv(const Operand& x) {
  base::need<base::kSpecial>("erfinv");
  return special("erfinv", x, [](const Value& v) {
    constexpr double kPi = std::numbers::pi, kRoot = 0.8862269254527580;  // sqrt(pi) / 2
    // A first value within 0.3 %: a series in the middle, and outside of it Winitzki's formula (2008).
    // Each branch has numbers of its own where another one is taken, so that its derivative there is no NaN.
    const Value size = where(v < 0, -v, v), end = size == 1;
    const Value a = where(end, 0.5, size), small = a < 0.5, large = where(small, 0.75, a), s = a * a;
    const Value middle = a * polynomial(s, std::array<double, 4>{kRoot, kRoot * kPi / 12, kRoot * 7 * kPi * kPi / 480,
                                                                 kRoot * 127 * kPi * kPi * kPi / 40320});
    constexpr double kA = 0.147;
    const Value l = log((1 - large) * (large + 1));
    const Value half = l * 0.5 + 2 / (kPi * kA);
    const Value outer = sqrt(sqrt(half * half - l / kA) - half);
    Value y = where(small, middle, outer);
    // Halley's steps, each of which trebles the correct digits. Near 1 by erfc, which has digits there.
    for (int k = 0; k < 2; ++k) {
      const Value above = where(small, y.unary(Op::Erf) - a, (1 - a) - y.unary(Op::Erfc));
      const Value step = above * exp(y * y) * kRoot;
      y = y - step / (y * step + 1);
    }
    const Value edge = where(end, 1 / where(end, 1 - size, 1), y);  // infinite, as its slope is
    return where(v < 0, -edge, where(v == 0, v * kRoot, edge));
  });
}

Tensor i0(const Operand& x) {
  base::need<base::kSpecial>("i0");
  return special("i0", x, [](const Value& v) {
    // The sum over k of (x^2 / 4)^k / k!^2 up to 20, whose terms are all positive; from there on the asymptotic series,
    // with prod (2j - 1)^2 / (k! 8^k x^k).
    constexpr double kBound = 20;
    const Value a = abs(v), small = a <= kBound;
    std::array<double, 48> power{1};
    for (std::size_t k = 1; k < power.size(); ++k) power[k] = power[k - 1] / static_cast<double>(k * k);
    std::array<double, 30> far{1};
    for (std::size_t k = 1; k < far.size(); ++k)
      far[k] = far[k - 1] * static_cast<double>((2 * k - 1) * (2 * k - 1)) / static_cast<double>(8 * k);
    const Value near = where(small, v, 0), away = where(small, kBound, a);
    // exp(x) in two halves overflows only where the result does.
    const Value half = exp(away * 0.5);
    const Value outside = half / sqrt(away * (2 * std::numbers::pi)) * polynomial(1 / away, far) * half;
    return where(isinf(a), a, where(small, polynomial(near * near * 0.25, power), outside));
  });
}

namespace {

/// Where the bits of a float are.
struct FloatBits {
  DType floats, integers;
  int significand, bias;
  std::int64_t exponents;  // as many values as the exponent has
};

FloatBits bits_of(DType wide) {
  return wide == DType::float64 ? FloatBits{DType::float64, DType::int64, 52, 1023, 2048}
                                : FloatBits{DType::float32, DType::int32, 23, 127, 256};
}

Value integer(const Value& like, std::int64_t number) {
  const Call& call = like.call();
  return {call,
          graph::constant(graph::Scalar::of_int(like.dtype(), number), like.shape(), like.device(), call.origin())};
}

Value bits(const Value& x, DType dtype) { return {x.call(), graph::bitcast(x.node(), dtype, x.call().origin())}; }

/// 2^k for integers k that are exponents of normal numbers.
Value power_of_two(const Value& k, const FloatBits& f) {
  const Value biased = k + integer(k, f.bias);
  return bits(biased.binary(Op::Shl, integer(k, f.significand)), f.floats);
}

/// The mantissa, and the exponent as an integer of the width of the floats.
std::pair<Value, Value> parts(const Value& v, const FloatBits& f) {
  // Subnormal numbers are brought among the normal ones.
  const Value subnormal = abs(v) < std::ldexp(1.0, 1 - f.bias);
  const Value normal = where(subnormal, v * std::ldexp(1.0, f.significand + 1), v);
  const Value all = bits(normal, f.integers);
  const Value places = all.binary(Op::Shr, integer(all, f.significand)) & integer(all, f.exponents - 1);
  const Value lowered = where(subnormal, integer(all, f.significand + 1), integer(all, 0));
  // A product, and not a change of bits, so that it has a derivative. No factor leaves the normal numbers.
  const Value down = integer(all, f.bias - 1) - places, half = down.binary(Op::Shr, integer(all, 1));
  const Value mantissa = normal * power_of_two(half, f) * power_of_two(down - half, f);
  const Value plain = isinf(v) | isnan(v) | (v == 0);
  return {where(plain, v, mantissa), where(plain, integer(all, 0), places - integer(all, f.bias - 1) - lowered)};
}

}  // namespace

Parts frexp(const Operand& x) {
  base::need<base::kSpecial>("frexp");
  const Call call("frexp", x);
  const DType dtype = api::floating_dtype(api::common_dtype({&x}));
  const FloatBits f = bits_of(api::wide_dtype(dtype));
  const auto [mantissa, exponent] = parts({call, call.node(x, f.floats, {}, api::device_of({&x}))}, f);
  return {mantissa.to(dtype).tensor(), exponent.to(DType::int32).tensor()};
}

Tensor ldexp(const Operand& x, const Operand& exponent) {
  base::need<base::kSpecial>("ldexp");
  const Call call("ldexp", x);
  if (const DType powers = api::common_dtype({&exponent}); is_floating(powers))
    throw DTypeError("ldexp", fmt::format("exponents are {}; give integers", name(powers)));
  const DType dtype = api::floating_dtype(api::common_dtype({&x}));
  const FloatBits f = bits_of(api::wide_dtype(dtype));
  const Device device = api::device_of({&x, &exponent});
  const auto [mantissa, own] = parts({call, call.node(x, f.floats, {}, device)}, f);
  // The first product is a normal number and exact, so the second one alone rounds. Beyond `most` all results are 0 or
  // infinite.
  const std::int64_t most = 2 * (f.exponents + f.significand);
  const bool wraps = api::common_dtype({&exponent}) == DType::uint64;
  const Value given(call, call.node(exponent, wraps ? DType::uint64 : DType::int64, {}, device));
  const Value wanted = (wraps ? min(given, integer(given, most)) : given).to(DType::int64);
  const auto within = [](const Value& k, std::int64_t low, std::int64_t high) {
    return min(max(k, integer(k, low)), integer(k, high));
  };
  const Value k = within(wanted, -most, most).to(f.integers) + own;
  const Value first = within(k, 2 - f.bias, f.bias);
  const Value second = within(k - first, 1 - f.bias, f.bias);
  return (mantissa * power_of_two(first, f) * power_of_two(second, f)).to(dtype).tensor();
}

namespace {

/// f of the magnitudes of both and of their greatest common divisor.
template <class F>
Tensor of_divisor(const char* name, const Operand& a, const Operand& b, F&& f) {
  const Call call(name, a);
  auto [first, second] = call.meet(a, b);
  if (!is_integer(first->dtype))
    throw DTypeError(name, fmt::format("the operands are {}; give integers", oriel::name(first->dtype)));
  // Unsigned numbers hold the magnitude of the smallest signed one.
  const DType dtype = first->dtype;
  constexpr DType kUnsigned[] = {DType::uint8, DType::uint16, DType::uint32, DType::uint64};
  const DType magnitudes = kUnsigned[std::countr_zero(itemsize(dtype))];
  const auto magnitude = [&](const NodePtr& node) {
    return is_unsigned(dtype) ? Value(call, node) : abs(Value(call, node)).to(magnitudes);
  };
  const Value x = magnitude(first), y = magnitude(second), zero = integer(x, 0);
  // Neighbours in Fibonacci's sequence need the most steps.
  constexpr int kSteps[] = {13, 24, 47, 93};
  const int steps = kSteps[std::countr_zero(itemsize(dtype))];
  Value greater = x, rest = y;
  for (int k = 0; k < steps; ++k) {
    const Value done = rest == zero;
    const Value next = where(done, rest, greater.binary(Op::Remainder, rest));
    greater = where(done, greater, rest);
    rest = next;
  }
  return std::forward<F>(f)(x, y, greater).to(dtype).tensor();
}

}  // namespace

Tensor gcd(const Operand& a, const Operand& b) {
  base::need<base::kSpecial>("gcd");
  return of_divisor("gcd", a, b, [](const Value&, const Value&, const Value& divisor) { return divisor; });
}

Tensor lcm(const Operand& a, const Operand& b) {
  base::need<base::kSpecial>("lcm");
  return of_divisor("lcm", a, b, [](const Value& x, const Value& y, const Value& divisor) {
    return x.binary(Op::FloorDiv, divisor) * y;  // 0 divided by 0 is 0
  });
}

Tensor bitwise_count(const Operand& x) {
  base::need<base::kSpecial>("bitwise_count");
  const Call call("bitwise_count", x);
  const DType dtype = api::common_dtype({&x});
  if (is_floating(dtype)) throw DTypeError("bitwise_count", fmt::format("{} has no bits to count", name(dtype)));
  Value v(call, call.node(x));
  if (dtype != DType::uint64) v = abs(v.to(DType::int64));
  v = v.to(DType::uint64);
  const auto every = [&](std::uint64_t pattern) { return integer(v, static_cast<std::int64_t>(pattern)); };
  const auto down = [&](const Value& y, int by) { return y.binary(Op::Shr, integer(y, by)); };
  // Sums of 2, 4 and 8 neighbouring bits; the product adds the bytes in the highest one.
  v = v - (down(v, 1) & every(0x5555555555555555));
  v = (v & every(0x3333333333333333)) + (down(v, 2) & every(0x3333333333333333));
  v = (v + down(v, 4)) & every(0x0F0F0F0F0F0F0F0F);
  return down(v * every(0x0101010101010101), 56).to(DType::uint8).tensor();
}

}  // namespace oriel
