// Arithmetic, powers and comparisons of complex numbers, as formulas of their parts.
#include <cmath>
#include <limits>
#include <optional>

#include "formula/complex_value.hpp"
#include "oriel/complex.hpp"
#include "oriel/ops.hpp"
#include "oriel/reduce.hpp"

namespace oriel {

using api::Call;
using api::ComplexTerm;
using api::ComplexValue;
using api::of_one;
using api::Op;
using api::Value;

namespace {

ComplexOperand given(const ComplexArgument& z) { return ComplexAccess::operand(z); }

/// a + b, or a - b. A real operand leaves the imaginary part of the other as it is, in the shape of both.
Complex added(const char* name, const ComplexOperand& a, const ComplexOperand& b, Op op) {
  return api::composed_complex(
      name,
      [op](const ComplexTerm& x, const ComplexTerm& y) {
        const Value re = x.re.binary(op, y.re);
        const Value other = op == Op::Sub && x.real ? -y.im : y.im;
        const Value im = x.real ? other : y.real ? x.im : x.im.binary(op, y.im);
        return ComplexValue{re, im.broadcast(re.shape())}.complex();
      },
      a, b);
}

Complex multiplied(const ComplexOperand& a, const ComplexOperand& b) {
  return api::composed_complex(
      "mul",
      [](const ComplexTerm& x, const ComplexTerm& y) {
        if (y.real) return ComplexValue{x.re * y.re, x.im * y.re}.complex();
        if (x.real) return ComplexValue{x.re * y.re, x.re * y.im}.complex();
        return (ComplexValue{x.re, x.im} * ComplexValue{y.re, y.im}).complex();
      },
      a, b);
}

/// x / y by Smith: the smaller part of y in units of the larger one, so that no square overflows.
ComplexValue quotient(const ComplexValue& x, const ComplexValue& y) {
  const Value wide = abs(y.im) <= abs(y.re);
  const Value large = where(wide, y.re, y.im), small = where(wide, y.im, y.re);
  const Value first = where(wide, x.re, x.im), second = where(wide, x.im, x.re);
  const Value zero = large == 0;
  const Value ratio = where(zero, 0, small / large);
  const Value below = where(zero, abs(large), large + small * ratio);
  const Value re = (first + where(zero, 0, second * ratio)) / below;
  const Value im = (second - where(zero, 0, first * ratio)) / below;
  return {re, where(wide, im, -im)};
}

Complex divided(const ComplexOperand& a, const ComplexOperand& b) {
  return api::composed_complex(
      "div",
      [](const ComplexTerm& x, const ComplexTerm& y) {
        if (y.real) return ComplexValue{x.re / y.re, x.im / y.re}.complex();
        return quotient({x.re, x.im}, {y.re, y.im}).complex();
      },
      a, b);
}

Tensor compared(const char* name, const ComplexOperand& a, const ComplexOperand& b, bool equal) {
  return api::composed_complex(
      name,
      [equal](const ComplexTerm& x, const ComplexTerm& y) {
        const Value same = (x.re == y.re) & (x.im == y.im);
        return (equal ? same : !same).tensor();
      },
      a, b);
}

ComplexValue powered(const ComplexValue& a, const ComplexValue& b) {
  const ComplexValue l = api::logarithm(a);
  const ComplexValue p = api::exponential(b * l);
  const Value one = (b.re == 0) & (b.im == 0);
  const Value zero = (a.re == 0) & (a.im == 0);
  const Value of_zero = where(b.re > 0, b.re.like(0), b.re.like(std::numeric_limits<double>::quiet_NaN()));
  const Value re = where(one, 1, where(zero, of_zero, p.re));
  return {re, where(one, 0, where(zero, of_zero, p.im))};
}

/// The exponent, if it is a small integer number.
std::optional<std::int64_t> small_power(const ComplexOperand& b) {
  const double n = detail::Access::value(ComplexAccess::real(b));
  if (!ComplexAccess::is_real(b) || !(std::abs(n) <= 64) || n != std::trunc(n)) return {};
  return static_cast<std::int64_t>(n);
}

ComplexValue repeated(ComplexValue square, std::int64_t n) {
  ComplexValue out{square.re.like(1), square.re.like(0)};
  bool some = false;
  for (std::int64_t left = std::abs(n); left != 0; left >>= 1) {
    if ((left & 1) != 0) out = some ? out * square : square;
    some = some || (left & 1) != 0;
    if (left > 1) square = square * square;
  }
  return n < 0 ? quotient({out.re.like(1), out.re.like(0)}, out) : out;
}

Complex power_of(const ComplexOperand& a, const ComplexOperand& b) {
  return api::composed_complex(
      "pow",
      [](const ComplexTerm& x, const ComplexTerm& y) {
        const Shape shape = graph::broadcast_shapes(x.re.shape(), y.re.shape(), x.re.call().origin());
        const ComplexValue p = powered({x.re, x.im}, {y.re, y.im});
        return ComplexValue{p.re.broadcast(shape), p.im.broadcast(shape)}.complex();
      },
      a, b);
}

Complex chosen_of(const Operand& c, const ComplexOperand& a, const ComplexOperand& b) {
  return api::composed_complex(
      "where",
      [&](const ComplexTerm& x, const ComplexTerm& y) {
        const Call& call = x.re.call();
        const Value condition(call, call.to_bool(call.node(c)));
        const Value re = where(condition, x.re, y.re);
        return ComplexValue{re, where(condition, x.im, y.im).broadcast(re.shape())}.complex();
      },
      a, b);
}

Tensor of_either(const char* name, const ComplexArgument& z, Op op) {
  return of_one(name, z, [op](const ComplexValue& v) { return (v.re.unary(op) | v.im.unary(op)).tensor(); });
}

}  // namespace

#define ORIEL_COMPLEX_OPERATOR(Result, op, ...)                           \
  Result operator op(const ComplexArgument& x, const ComplexOperand& b) { \
    const ComplexOperand a = given(x);                                    \
    return __VA_ARGS__;                                                   \
  }                                                                       \
  Result operator op(const Operand& x, const ComplexArgument& y) {        \
    const ComplexOperand a = x, b = given(y);                             \
    return __VA_ARGS__;                                                   \
  }                                                                       \
  Result operator op(const ComplexNumber& x, const ComplexArgument& y) {  \
    const ComplexOperand &a = x.operand(), b = given(y);                  \
    return __VA_ARGS__;                                                   \
  }
ORIEL_COMPLEX_OPERATOR(Complex, +, added("add", a, b, Op::Add))
ORIEL_COMPLEX_OPERATOR(Complex, -, added("sub", a, b, Op::Sub))
ORIEL_COMPLEX_OPERATOR(Complex, *, multiplied(a, b))
ORIEL_COMPLEX_OPERATOR(Complex, /, divided(a, b))
ORIEL_COMPLEX_OPERATOR(Tensor, ==, compared("equal", a, b, true))
ORIEL_COMPLEX_OPERATOR(Tensor, !=, compared("not_equal", a, b, false))
#undef ORIEL_COMPLEX_OPERATOR

Complex operator-(const ComplexArgument& z) {
  return ComplexAccess::made(-ComplexAccess::real(z), -ComplexAccess::imag(z));
}
Complex operator+(const ComplexArgument& z) {
  return ComplexAccess::made(+ComplexAccess::real(z), +ComplexAccess::imag(z));
}

#define ORIEL_IN_PLACE(op, ...)                                              \
  Complex& operator op(Complex& z, const ComplexOperand& w) {                \
    const ComplexOperand a(z, detail::Access::site(ComplexAccess::real(w))); \
    z.assign(__VA_ARGS__);                                                   \
    return z;                                                                \
  }
ORIEL_IN_PLACE(+=, added("add", a, w, Op::Add))
ORIEL_IN_PLACE(-=, added("sub", a, w, Op::Sub))
ORIEL_IN_PLACE(*=, multiplied(a, w))
ORIEL_IN_PLACE(/=, divided(a, w))
#undef ORIEL_IN_PLACE

Complex polar(const Operand& magnitude, const Operand& angle) {
  return api::composed_complex(
      "polar",
      [](const ComplexTerm& r, const ComplexTerm& a) {
        return ComplexValue{r.re * a.re.unary(Op::Cos), r.re * sin(a.re)}.complex();
      },
      ComplexOperand(magnitude), ComplexOperand(angle));
}

Complex conj(const ComplexArgument& z) { return ComplexAccess::made(+ComplexAccess::real(z), -ComplexAccess::imag(z)); }
Tensor abs(const ComplexArgument& z) { return hypot(ComplexAccess::real(z), ComplexAccess::imag(z)); }
Tensor angle(const ComplexArgument& z) { return atan2(ComplexAccess::imag(z), ComplexAccess::real(z)); }

Complex pow(const ComplexArgument& a, const ComplexOperand& b) {
  if (const std::optional<std::int64_t> n = small_power(b))
    return of_one("pow", a, [n](const ComplexValue& v) { return repeated(v, *n).complex(); });
  return power_of(given(a), b);
}
Complex pow(const Operand& a, const ComplexArgument& b) { return power_of(a, given(b)); }

Complex square(const ComplexArgument& z) {
  return of_one("square", z, [](const ComplexValue& v) { return (v * v).complex(); });
}
Complex reciprocal(const ComplexArgument& z) {
  return of_one("reciprocal", z, [](const ComplexValue& v) {
    return quotient({v.re.like(1), v.re.like(0)}, v).complex();
  });
}

Tensor isnan(const ComplexArgument& z) { return of_either("isnan", z, Op::IsNan); }
Tensor isinf(const ComplexArgument& z) { return of_either("isinf", z, Op::IsInf); }
Tensor isfinite(const ComplexArgument& z) {
  return isfinite(ComplexAccess::real(z)) && isfinite(ComplexAccess::imag(z));
}

Tensor isclose(const ComplexArgument& a, const ComplexArgument& b, double rtol, double atol) {
  const auto difference = [&](const Operand& x, const Operand& y) { return Operand(x) - Operand(y); };
  const Tensor apart = hypot(difference(ComplexAccess::real(a), ComplexAccess::real(b)),
                             difference(ComplexAccess::imag(a), ComplexAccess::imag(b)));
  const Tensor equal = Operand(ComplexAccess::real(a)) == Operand(ComplexAccess::real(b)) &&
                       Operand(ComplexAccess::imag(a)) == Operand(ComplexAccess::imag(b));
  return (apart <= rtol * abs(b) + atol && isfinite(b)) || equal;
}
bool allclose(const ComplexArgument& a, const ComplexArgument& b, double rtol, double atol) {
  return all(isclose(a, b, rtol, atol)).item<bool>();
}

Complex where(const Operand& c, const ComplexArgument& a, const ComplexOperand& b) { return chosen_of(c, given(a), b); }
Complex where(const Operand& c, const Operand& a, const ComplexArgument& b) { return chosen_of(c, a, given(b)); }

}  // namespace oriel
