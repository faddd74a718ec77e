#include "lang/call_values.hpp"

#include <numbers>

#include "graph/next_after.hpp"
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
      return c.of(Op::Expm1, a);
    case Builtin::log_:
      return c.of(Op::Log, a);
    case Builtin::log2_:
      return c.of(Op::Log2, a);
    case Builtin::log10_:
      return c.of(Op::Log10, a);
    case Builtin::log1p_:
      return c.of(Op::Log1p, a);
    case Builtin::sqrt_:
      return c.of(Op::Sqrt, a);
    case Builtin::rsqrt_:
      return c.of(Op::Rsqrt, a);
    case Builtin::cbrt_:
      return c.of(Op::Copysign, c.of(Op::Pow, c.of(Op::Abs, a), 1.0 / 3.0), a);
    case Builtin::rcbrt_:
      return c.of(Op::Div, c.number(1), c.of(Op::Copysign, c.of(Op::Pow, c.of(Op::Abs, a), 1.0 / 3.0), a));
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
      return c.of(Op::Asin, a);
    case Builtin::acos_:
      return c.of(Op::Acos, a);
    case Builtin::atan_:
      return c.of(Op::Atan, a);
    case Builtin::sinh_:
      return c.of(Op::Sinh, a);
    case Builtin::cosh_:
      return c.of(Op::Cosh, a);
    case Builtin::tanh_:
      return c.of(Op::Tanh, a);
    case Builtin::asinh_:
      return c.of(Op::Asinh, a);
    case Builtin::acosh_:
      return c.of(Op::Acosh, a);
    case Builtin::atanh_:
      return c.of(Op::Atanh, a);
    case Builtin::erf_:
      return c.of(Op::Erf, a);
    case Builtin::erfc_:
      return c.of(Op::Erfc, a);
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
      return c.of(Op::Copysign, c.select(up, c.of(Op::Add, whole, 1), whole), a);
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
    case Builtin::hypot_:
      return c.of(Op::Hypot, a, b);
    case Builtin::copysign_:
      return c.of(Op::Copysign, a, b);
    case Builtin::nextafter_:
      return graph::next_after(a, b, origin);
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
