// Functions of complex numbers, as formulas of their parts.
//
// The inverses of circular and hyperbolic functions are Kahan's ("Branch Cuts for Complex Elementary Functions", 1987).
// Where the root of 1 / |z|^2 is below the last digit they are logarithms, which also hold for infinities.
#include <cmath>
#include <limits>
#include <numbers>

#include "formula/complex_value.hpp"
#include "oriel/complex.hpp"

namespace oriel {

using api::ComplexValue;
using api::Op;
using api::Value;

namespace {

/// A power of two that brings numbers near the limits of the dtype to where squares of them neither overflow nor lose
/// bits. It is 1 for all others.
struct Scale {
  explicit Scale(const ComplexValue& z) : Scale(z, z.re.dtype() == DType::float64) {}
  Value by;    // 1/16, 1 or 2^k
  Value root;  // 1 over its root
  Value log;   // minus its logarithm

 private:
  Scale(const ComplexValue& z, bool wide)
      : Scale(largest(z), wide ? 1e300 : 1e37, wide ? 1e-290 : 1e-30, wide ? 80 : 40) {}
  Scale(const Value& size, double most, double least, int bits) : Scale(size, size > most, size < least, bits) {}
  Scale(const Value& size, const Value& large, const Value& small, int bits)
      : by(chosen(size, large, small, 1.0 / 16, 1, std::ldexp(1.0, bits))),
        root(chosen(size, large, small, 4, 1, std::ldexp(1.0, -bits / 2))),
        log(chosen(size, large, small, 4 * std::numbers::ln2, 0, -bits * std::numbers::ln2)) {}
  static Value largest(const ComplexValue& z) { return max(abs(z.re), abs(z.im)); }
  static Value chosen(const Value& size, const Value& large, const Value& small, double l, double m, double s) {
    return where(large, l, where(small, s, size.like(m)));
  }
};

Value length(const Value& re, const Value& im) { return re.binary(Op::Hypot, im); }

}  // namespace

namespace api {

ComplexValue logarithm(const ComplexValue& z) {
  const Scale scale(z);
  const Value far = log(length(z.re * scale.by, z.im * scale.by)) + scale.log;
  // Near |z| = 1 the logarithm of the rounded length has no digits left: log1p of |z|^2 - 1 keeps them.
  const Value large = max(abs(z.re), abs(z.im)), small = min(abs(z.re), abs(z.im));
  const Value near = (large > 0.7) & (large < 1.5);
  const Value excess = (large - 1.0) * (large + 1.0) + small * small;
  return {where(near, log1p(excess) * 0.5, far), z.im.binary(Op::Atan2, z.re)};
}

ComplexValue exponential(const ComplexValue& z) {
  // An imaginary part of 0 stays 0. Beside an infinite or NaN imaginary part, a real one of -inf gives 0 and one of inf
  // an infinity.
  const Value e = exp(z.re);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const Value lost = !(abs(z.im) < kInfinity);
  const Value none = (z.re == -kInfinity) & lost, endless = (z.re == kInfinity) & lost;
  const Value real = z.im == 0;
  const Value re = where(none, 0, where(endless, e, e * z.im.unary(Op::Cos)));
  return {where(real, e, re), where(real, z.im, where(none, 0, e * sin(z.im)))};
}

}  // namespace api

namespace {

/// The root with a real part >= 0, of numbers whose parts may be squared.
ComplexValue plain_root(const ComplexValue& z) {
  const Value t = sqrt((abs(z.re) + length(z.re, z.im)) * 0.5);
  const Value u = where(t == 0, z.im, z.im / (t + t));
  const Value left = z.re < 0;
  return {where(left, abs(u), t), where(left, t.binary(Op::Copysign, z.im), u)};
}

/// Is x infinite or NaN?
Value boundless(const Value& x) { return !(abs(x) < std::numeric_limits<double>::infinity()); }

Value signed_as(const Value& x, const Value& sign) { return x.binary(Op::Copysign, sign); }

/// f of the numbers with their parts exchanged, with its parts exchanged: -i f(i z), for an odd f that keeps
/// conjugates.
template <class F>
ComplexValue exchanged(const ComplexValue& z, F&& f) {
  const ComplexValue w = f(ComplexValue{z.im, z.re});
  return {w.im, w.re};
}

// A real part that is 0, or infinite where the function is, stays so beside an infinite or NaN imaginary part. An
// imaginary part of 0 stays 0 beside every real part.

ComplexValue hyperbolic_sine(const ComplexValue& z) {
  const Value kept = ((z.re == 0) | isinf(z.re)) & boundless(z.im);
  const Value re = z.re.unary(Op::Sinh) * z.im.unary(Op::Cos), im = z.re.unary(Op::Cosh) * sin(z.im);
  return {where(kept, z.re, re), where(z.im == 0, z.im, im)};
}

ComplexValue hyperbolic_cosine(const ComplexValue& z) {
  const Value lost = boundless(z.im);
  const Value re = z.re.unary(Op::Cosh) * z.im.unary(Op::Cos), im = z.re.unary(Op::Sinh) * sin(z.im);
  const Value zero = z.im * signed_as(z.re.like(1), z.re);
  return {where(isinf(z.re) & lost, abs(z.re), re), where(z.im == 0, zero, where((z.re == 0) & lost, z.re, im))};
}

ComplexValue hyperbolic_tangent(const ComplexValue& z) {
  // Beyond 22 the real part is 1 in every dtype, and the squares below need not stay finite.
  const Value lost = boundless(z.im), far = (abs(z.re) > 22) & (isinf(z.re) | !lost);
  const Value s = z.re.unary(Op::Sinh), c = z.re.unary(Op::Cosh), sine = sin(z.im), cosine = z.im.unary(Op::Cos);
  const Value below = s * s + cosine * cosine, turn = sine * cosine;
  const Value re = where((z.re == 0) & lost, z.re, s * c / below);
  const Value small = where(lost, 0, turn * 4 * exp(abs(z.re) * -2));
  return {where(far, signed_as(z.re.like(1), z.re), re), where(z.im == 0, z.im, where(far, small, turn / below))};
}

/// Is |z| so large that sqrt(z^2 + 1) is z?
Value far_out(const ComplexValue& z) {
  const double limit = z.re.dtype() == DType::float64 ? 1e8 : 1e4;
  return (abs(z.re) > limit) | (abs(z.im) > limit);
}

/// log(|2 z|)
Value log_of_double(const ComplexValue& z) { return api::logarithm(z).re + std::numbers::ln2; }

/// The roots of 1 - z and 1 + z, with the sides of the cuts that the sign of a zero imaginary part says.
struct Roots {
  explicit Roots(const ComplexValue& z) : minus(plain_root({1 - z.re, -z.im})), plus(plain_root({z.re + 1, z.im})) {}
  ComplexValue minus;
  ComplexValue plus;
};

ComplexValue inverse_sine(const ComplexValue& z) {
  const Roots roots(z);
  const ComplexValue &m = roots.minus, &p = roots.plus;
  const Value re = z.re.binary(Op::Atan2, m.re * p.re - m.im * p.im);
  const Value im = (m.re * p.im - m.im * p.re).unary(Op::Asinh);
  const Value far = far_out(z);
  return {where(z.re == 0, z.re, where(far, z.re.binary(Op::Atan2, abs(z.im)), re)),
          where(far, signed_as(log_of_double(z), z.im), im)};
}

ComplexValue inverse_cosine(const ComplexValue& z) {
  const Roots roots(z);
  const ComplexValue &m = roots.minus, &p = roots.plus;
  const Value re = m.re.binary(Op::Atan2, p.re) * 2;
  const Value im = (p.re * m.im - p.im * m.re).unary(Op::Asinh);
  const Value far = far_out(z);
  return {where(z.re == 0, std::numbers::pi / 2, where(far, abs(z.im).binary(Op::Atan2, z.re), re)),
          where(far, signed_as(log_of_double(z), -z.im), im)};
}

ComplexValue inverse_hyperbolic_cosine(const ComplexValue& z) {
  const ComplexValue w = inverse_cosine(z);
  return {abs(w.im), signed_as(w.re, z.im)};
}

ComplexValue inverse_hyperbolic_tangent(const ComplexValue& z) {
  const Value x = abs(z.re), y = z.im;
  // Near the pole the quotient of the distances from -1 and 1 is large, and a square of the latter may vanish.
  const Value distance = 1 - x, square = distance * distance + y * y;
  const Value quotient = log((x + 1).binary(Op::Hypot, y)) - log(distance.binary(Op::Hypot, y));
  const Value re = where(square < 1e-3, quotient * 0.5, log1p(x * 4 / square) * 0.25);
  const Value im = (y * 2).binary(Op::Atan2, distance * (x + 1) - y * y) * 0.5;
  // Far out it is 1 / z and a quarter turn.
  const Value far = far_out(z), endless = isinf(x) | isinf(y);
  const Value size = max(x, abs(y)), a = x / size, b = y / size, below = (a * a + b * b) * size;
  const Value small = where(endless, 0, a / below), missing = where(endless, 0, b / below);
  const Value turn = where(isnan(y), y, signed_as(y.like(std::numbers::pi / 2), y) - missing);
  return {where(z.re == 0, z.re, signed_as(where(far, small, re), z.re)), where(far, turn, im)};
}

ComplexValue exponential_minus_one(const ComplexValue& z) {
  const ComplexValue e = api::exponential(z);
  const Value half = sin(z.im * 0.5);
  const Value near = expm1(z.re) * z.im.unary(Op::Cos) - half * half * 2;
  return {where(abs(z.re) < 1, near, e.re - 1), e.im};
}

ComplexValue logarithm_of_one_more(const ComplexValue& z) {
  const Value x = z.re + 1;
  const ComplexValue l = api::logarithm({x, z.im});
  // Where the rounded 1 + x loses digits that matter: |1 + z|^2 - 1 has them.
  const Value near = (abs(x) > 0.7) & (abs(x) < 1.5) & (abs(z.im) <= abs(x));
  return {where(near, log1p(z.re * (z.re + 2) + z.im * z.im) * 0.5, l.re), l.im};
}

ComplexValue logarithm_over(const ComplexValue& z, double base) {
  const ComplexValue l = api::logarithm(z);
  return {l.re / base, l.im / base};
}

ComplexValue direction(const ComplexValue& z) {
  const Value size = max(abs(z.re), abs(z.im)), zero = size == 0;
  const Value re = z.re / size, im = z.im / size;
  const Value length = re.binary(Op::Hypot, im);
  return {where(zero, 0, re / length), where(zero, 0, im / length)};
}

}  // namespace

Complex exp(const ComplexArgument& z) {
  return api::of_one("exp", z, [](const ComplexValue& v) { return api::exponential(v).complex(); });
}

Complex log(const ComplexArgument& z) {
  return api::of_one("log", z, [](const ComplexValue& v) { return api::logarithm(v).complex(); });
}

Complex sqrt(const ComplexArgument& z) {
  return api::of_one("sqrt", z, [](const ComplexValue& v) {
    const Scale scale(v);
    const ComplexValue root = plain_root({v.re * scale.by, v.im * scale.by});
    const Value endless = isinf(v.im);
    return ComplexValue{where(endless, abs(v.im), root.re * scale.root), where(endless, v.im, root.im * scale.root)}
        .complex();
  });
}

#define ORIEL_COMPLEX_FUNCTION(name, ...)                                                               \
  Complex name(const ComplexArgument& argument) {                                                       \
    return api::of_one(#name, argument, [](const ComplexValue& z) { return (__VA_ARGS__).complex(); }); \
  }
ORIEL_COMPLEX_FUNCTION(sin, exchanged(z, hyperbolic_sine))
ORIEL_COMPLEX_FUNCTION(cos, hyperbolic_cosine({-z.im, z.re}))
ORIEL_COMPLEX_FUNCTION(tan, exchanged(z, hyperbolic_tangent))
ORIEL_COMPLEX_FUNCTION(asin, inverse_sine(z))
ORIEL_COMPLEX_FUNCTION(acos, inverse_cosine(z))
ORIEL_COMPLEX_FUNCTION(atan, exchanged(z, inverse_hyperbolic_tangent))
ORIEL_COMPLEX_FUNCTION(sinh, hyperbolic_sine(z))
ORIEL_COMPLEX_FUNCTION(cosh, hyperbolic_cosine(z))
ORIEL_COMPLEX_FUNCTION(tanh, hyperbolic_tangent(z))
ORIEL_COMPLEX_FUNCTION(asinh, exchanged(z, inverse_sine))
ORIEL_COMPLEX_FUNCTION(acosh, inverse_hyperbolic_cosine(z))
ORIEL_COMPLEX_FUNCTION(atanh, inverse_hyperbolic_tangent(z))
ORIEL_COMPLEX_FUNCTION(expm1, exponential_minus_one(z))
ORIEL_COMPLEX_FUNCTION(log1p, logarithm_of_one_more(z))
ORIEL_COMPLEX_FUNCTION(log2, logarithm_over(z, std::numbers::ln2))
ORIEL_COMPLEX_FUNCTION(log10, logarithm_over(z, std::numbers::ln10))
ORIEL_COMPLEX_FUNCTION(sign, direction(z))
ORIEL_COMPLEX_FUNCTION(round, ComplexValue{round(z.re), round(z.im)})
#undef ORIEL_COMPLEX_FUNCTION

}  // namespace oriel
