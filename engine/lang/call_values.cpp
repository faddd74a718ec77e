#include "lang/call_values.hpp"

#include <numbers>

#include "oriel/error.hpp"

namespace oriel::lang {
namespace {

using graph::NodePtr;
using graph::Op;

/// Values of one shape and dtype with the operators of arithmetic.
class Calculator {
 public:
  Calculator(const NodePtr& like, const graph::Origin& origin) : like_(like), origin_(origin) {}

  NodePtr number(double value) const {
    return graph::constant(graph::Scalar::of_float(like_->dtype, value), like_->shape, like_->device, origin_);
  }
  NodePtr of(Op op, const NodePtr& a) const { return graph::unary(op, a, origin_); }
  NodePtr of(Op op, const NodePtr& a, const NodePtr& b) const { return graph::binary(op, a, b, origin_); }
  NodePtr of(Op op, const NodePtr& a, double b) const { return of(op, a, number(b)); }
  NodePtr select(const NodePtr& c, const NodePtr& a, const NodePtr& b) const { return graph::where(c, a, b, origin_); }

  // Uses Kahan's correction for the rounding of u = 1 + x: log(u) / (u - 1) is smooth there.
  NodePtr log1p(const NodePtr& x) const {
    const NodePtr u = of(Op::Add, x, 1);
    const NodePtr off = of(Op::Sub, u, 1);
    const NodePtr corrected = of(Op::Div, of(Op::Mul, of(Op::Log, u), x), off);
    // If u is infinite, the quotient is NaN.
    return select(of(Op::Eq, off, 0.0), x, select(of(Op::IsInf, u), of(Op::Log, u), corrected));
  }
  NodePtr expm1(const NodePtr& x) const {
    const NodePtr u = of(Op::Exp, x);
    const NodePtr off = of(Op::Sub, u, 1);
    const NodePtr corrected = of(Op::Div, of(Op::Mul, off, x), of(Op::Log, u));
    const NodePtr far = of(Op::Lt, of(Op::Abs, x), 0.5);
    return select(of(Op::Eq, u, 1), x, select(far, corrected, off));
  }
  NodePtr with_sign(const NodePtr& size, const NodePtr& sign) const {
    // The sign of 1 / x distinguishes -0 from 0.
    const NodePtr negative = of(Op::Or, of(Op::Lt, sign, 0.0),
                                of(Op::And, of(Op::Eq, sign, 0.0), of(Op::Lt, of(Op::Div, number(1), sign), 0.0)));
    const NodePtr positive = of(Op::Abs, size);
    return select(negative, of(Op::Neg, positive), positive);
  }
  // 1 - erf(x) loses all digits if erf(x) is near 1. There the function uses rational functions times exp(-x^2), from
  // W. J. Cody, "Rational Chebyshev approximations for the error function", 1969.
  NodePtr erfc(const NodePtr& x) const {
    constexpr double kNear[] = {2.15311535474403846e-8, 5.64188496988670089e-1, 8.88314979438837594,
                                6.61191906371416295e1,  2.98635138197400131e2,  8.81952221241769090e2,
                                1.71204761263407058e3,  2.05107837782607147e3,  1.23033935479799725e3};
    constexpr double kNearBelow[] = {1,
                                     1.57449261107098347e1,
                                     1.17693950891312499e2,
                                     5.37181101862009858e2,
                                     1.62138957456669019e3,
                                     3.29079923573345963e3,
                                     4.36261909014324716e3,
                                     3.43936767414372164e3,
                                     1.23033935480374942e3};
    constexpr double kFar[] = {1.63153871373020978e-2, 3.05326634961232344e-1, 3.60344899949804439e-1,
                               1.25781726111229246e-1, 1.60837851487422766e-2, 6.58749161529837803e-4};
    constexpr double kFarBelow[] = {1,
                                    2.56852019228982242,
                                    1.87295284992346725,
                                    5.27905102951428412e-1,
                                    6.05183413124413191e-2,
                                    2.33520497626869185e-3};
    const NodePtr y = of(Op::Abs, x);
    // exp(-y^2) as a product: one factor for a y with few bits, whose square is exact, and one for the rest.
    const NodePtr few = of(Op::Mul, of(Op::Trunc, of(Op::Mul, y, 16)), 1.0 / 16);
    const NodePtr rest = of(Op::Mul, of(Op::Sub, few, y), of(Op::Add, few, y));
    const NodePtr bell = of(Op::Mul, of(Op::Exp, of(Op::Neg, of(Op::Mul, few, few))), of(Op::Exp, rest));
    const NodePtr near = of(Op::Div, polynomial(kNear, y), polynomial(kNearBelow, y));
    const NodePtr z = of(Op::Div, number(1), of(Op::Mul, y, y));
    const NodePtr less = of(Op::Mul, z, of(Op::Div, polynomial(kFar, z), polynomial(kFarBelow, z)));
    const NodePtr far = of(Op::Div, of(Op::Sub, number(std::numbers::inv_sqrtpi), less), y);
    const NodePtr tail = of(Op::Mul, bell, select(of(Op::Le, y, 4), near, far));
    const NodePtr right = select(of(Op::Lt, number(27), y), number(0), tail);  // the result underflows even in double
    const NodePtr sided = select(of(Op::Lt, x, 0.0), of(Op::Sub, number(2), right), right);
    return select(of(Op::Lt, y, 0.46875), of(Op::Sub, number(1), of(Op::Erf, x)), sided);
  }
  // Evaluates a polynomial; the coefficient of the highest power comes first.
  NodePtr polynomial(std::span<const double> coefficients, const NodePtr& x) const {
    NodePtr out = number(coefficients[0]);
    for (const double c : coefficients.subspan(1)) out = of(Op::Add, of(Op::Mul, out, x), c);
    return out;
  }
  NodePtr cosine_of(const NodePtr& x) const {  // sqrt(1 - x^2)
    return of(Op::Sqrt, of(Op::Mul, of(Op::Sub, number(1), x), of(Op::Add, x, 1)));
  }

 private:
  const NodePtr& like_;
  const graph::Origin& origin_;
};

NodePtr compute(Builtin function, std::span<const NodePtr> x, const graph::Origin& origin) {
  const Calculator c(x[0], origin);
  const NodePtr& a = x[0];
  const NodePtr& b = x.size() > 1 ? x[1] : x[0];
  switch (function) {
    case Builtin::exp_:
      return c.of(Op::Exp, a);
    case Builtin::exp2_:
      return c.of(Op::Exp2, a);
    case Builtin::exp10_:
      return c.of(Op::Pow, c.number(10), a);
    case Builtin::expm1_:
      return c.expm1(a);
    case Builtin::log_:
      return c.of(Op::Log, a);
    case Builtin::log2_:
      return c.of(Op::Log2, a);
    case Builtin::log10_:
      return c.of(Op::Mul, c.of(Op::Log, a), std::numbers::log10e);
    case Builtin::log1p_:
      return c.log1p(a);
    case Builtin::sqrt_:
      return c.of(Op::Sqrt, a);
    case Builtin::rsqrt_:
      return c.of(Op::Rsqrt, a);
    case Builtin::cbrt_:
      return c.with_sign(c.of(Op::Pow, c.of(Op::Abs, a), 1.0 / 3.0), a);
    case Builtin::rcbrt_:
      return c.of(Op::Div, c.number(1), c.with_sign(c.of(Op::Pow, c.of(Op::Abs, a), 1.0 / 3.0), a));
    case Builtin::sin_:
      return c.of(Op::Sin, a);
    case Builtin::cos_:
      return c.of(Op::Cos, a);
    case Builtin::tan_:
      return c.of(Op::Tan, a);
    case Builtin::sinpi_:  // the remainder by 2 is exact
      return c.of(Op::Sin, c.of(Op::Mul, c.of(Op::Fmod, a, 2), std::numbers::pi));
    case Builtin::cospi_:
      return c.of(Op::Cos, c.of(Op::Mul, c.of(Op::Fmod, a, 2), std::numbers::pi));
    case Builtin::asin_:
      return c.of(Op::Atan2, a, c.cosine_of(a));
    case Builtin::acos_:
      return c.of(Op::Atan2, c.cosine_of(a), a);
    case Builtin::atan_:
      return c.of(Op::Atan2, a, 1);
    case Builtin::sinh_: {  // half of e + e / (e + 1), e = expm1(|x|)
      const NodePtr e = c.expm1(c.of(Op::Abs, a));
      const NodePtr half = c.of(Op::Mul, c.of(Op::Add, e, c.of(Op::Div, e, c.of(Op::Add, e, 1))), 0.5);
      const NodePtr large = c.of(Op::Mul, e, 0.5);
      return c.with_sign(c.select(c.of(Op::IsInf, e), large, half), a);
    }
    case Builtin::cosh_: {
      const NodePtr e = c.of(Op::Exp, c.of(Op::Abs, a));
      return c.of(Op::Mul, c.of(Op::Add, e, c.of(Op::Div, c.number(1), e)), 0.5);
    }
    case Builtin::tanh_:
      return c.of(Op::Tanh, a);
    case Builtin::asinh_: {  // log1p(|x| + x^2 / (1 + sqrt(x^2 + 1)))
      const NodePtr size = c.of(Op::Abs, a);
      const NodePtr square = c.of(Op::Mul, a, a);
      const NodePtr root = c.of(Op::Sqrt, c.of(Op::Add, square, 1));
      const NodePtr near = c.log1p(c.of(Op::Add, size, c.of(Op::Div, square, c.of(Op::Add, root, 1))));
      const NodePtr far = c.of(Op::Add, c.of(Op::Log, size), std::numbers::ln2);
      return c.with_sign(c.select(c.of(Op::Lt, size, 1e8), near, far), a);
    }
    case Builtin::acosh_: {  // log1p(t + sqrt(2 t + t^2)), t = x - 1
      const NodePtr t = c.of(Op::Sub, a, 1);
      const NodePtr root = c.of(Op::Sqrt, c.of(Op::Mul, t, c.of(Op::Add, t, 2)));
      const NodePtr far = c.of(Op::Add, c.of(Op::Log, a), std::numbers::ln2);
      return c.select(c.of(Op::Lt, a, 1e8), c.log1p(c.of(Op::Add, t, root)), far);
    }
    case Builtin::atanh_:  // half of log1p(2 x / (1 - x))
      return c.of(Op::Mul, c.log1p(c.of(Op::Div, c.of(Op::Mul, a, 2), c.of(Op::Sub, c.number(1), a))), 0.5);
    case Builtin::erf_:
      return c.of(Op::Erf, a);
    case Builtin::erfc_:
      return c.erfc(a);
    case Builtin::floor_:
      return c.of(Op::Floor, a);
    case Builtin::ceil_:
      return c.of(Op::Ceil, a);
    case Builtin::rint_:
      return c.of(Op::Round, a);
    case Builtin::round_: {  // ties away from zero; the fraction is exact
      const NodePtr size = c.of(Op::Abs, a);
      const NodePtr whole = c.of(Op::Floor, size);
      const NodePtr up = c.of(Op::Le, c.number(0.5), c.of(Op::Sub, size, whole));
      return c.with_sign(c.select(up, c.of(Op::Add, whole, 1), whole), a);
    }
    case Builtin::trunc_:
      return c.of(Op::Trunc, a);
    case Builtin::fabs_:
      return c.of(Op::Abs, a);
    case Builtin::fmin_:  // unlike the operators, fmin and fmax ignore a NaN
    case Builtin::fmax_: {
      const NodePtr extreme = c.of(function == Builtin::fmin_ ? Op::Min : Op::Max, a, b);
      return c.select(c.of(Op::IsNan, a), b, c.select(c.of(Op::IsNan, b), a, extreme));
    }
    case Builtin::pow_:
      return c.of(Op::Pow, a, b);
    case Builtin::atan2_:
      return c.of(Op::Atan2, a, b);
    case Builtin::fmod_:
      return c.of(Op::Fmod, a, b);
    case Builtin::remainder_:  // the quotient is rounded to the nearest integer
      return c.of(Op::Sub, a, c.of(Op::Mul, b, c.of(Op::Round, c.of(Op::Div, a, b))));
    case Builtin::hypot_: {
      const NodePtr large = c.of(Op::Max, c.of(Op::Abs, a), c.of(Op::Abs, b));
      const NodePtr ratio = c.of(Op::Div, c.of(Op::Min, c.of(Op::Abs, a), c.of(Op::Abs, b)), large);
      const NodePtr size = c.of(Op::Mul, large, c.of(Op::Sqrt, c.of(Op::Add, c.of(Op::Mul, ratio, ratio), 1)));
      const NodePtr plain = c.of(Op::Or, c.of(Op::Eq, large, 0.0), c.of(Op::IsInf, large));
      return c.select(plain, large, size);
    }
    case Builtin::copysign_:
      return c.with_sign(a, b);
    case Builtin::fdim_:
      return c.of(Op::Max, c.of(Op::Sub, a, b), 0.0);
    case Builtin::fdivide_:
      return c.of(Op::Div, a, b);
    case Builtin::fma_:
      return c.of(Op::Add, c.of(Op::Mul, a, b), x[2]);
  }
  throw InternalError("comprehension", "a builtin function without a meaning");
}

}  // namespace

NodePtr call_builtin(Builtin function, std::span<const NodePtr> x, const graph::Origin& origin) {
  return compute(function, x, origin);
}

}  // namespace oriel::lang
