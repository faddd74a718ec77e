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

// Functions of several ops.
NodePtr composed(Builtin function, std::span<const NodePtr> x, const graph::Origin& origin) {
  const Calculator c(x[0], origin);
  const NodePtr& a = x[0];
  const NodePtr& b = x.size() > 1 ? x[1] : x[0];
  switch (function) {
    case Builtin::exp10_:
      return c.of(Op::Pow, c.number(10), a);
    case Builtin::cbrt_:
      return c.of(Op::Copysign, c.of(Op::Pow, c.of(Op::Abs, a), 1.0 / 3.0), a);
    case Builtin::rcbrt_:
      return c.of(Op::Div, c.number(1), composed(Builtin::cbrt_, x, origin));
    case Builtin::sinpi_:  // the remainder by 2 is exact
      return c.of(Op::Sin, c.of(Op::Mul, c.of(Op::Fmod, a, 2), std::numbers::pi));
    case Builtin::cospi_:
      return c.of(Op::Cos, c.of(Op::Mul, c.of(Op::Fmod, a, 2), std::numbers::pi));
    case Builtin::round_: {  // ties away from zero; the fraction is exact
      const NodePtr size = c.of(Op::Abs, a);
      const NodePtr whole = c.of(Op::Floor, size);
      const NodePtr up = c.of(Op::Le, c.number(0.5), c.of(Op::Sub, size, whole));
      return c.of(Op::Copysign, c.select(up, c.of(Op::Add, whole, 1), whole), a);
    }
    case Builtin::fmin_:  // unlike the operators, fmin and fmax ignore a NaN
    case Builtin::fmax_: {
      const NodePtr extreme = c.of(function == Builtin::fmin_ ? Op::Min : Op::Max, a, b);
      return c.select(c.of(Op::IsNan, a), b, c.select(c.of(Op::IsNan, b), a, extreme));
    }
    case Builtin::remainder_:  // the quotient is rounded to the nearest integer
      return c.of(Op::Sub, a, c.of(Op::Mul, b, c.of(Op::Round, c.of(Op::Div, a, b))));
    case Builtin::nextafter_:
      return graph::next_after(a, b, origin);
    case Builtin::fdim_:
      return c.of(Op::Max, c.of(Op::Sub, a, b), 0.0);
    case Builtin::fma_:
      return c.of(Op::Add, c.of(Op::Mul, a, b), x[2]);
    default:
      throw InternalError("comprehension", "a builtin function without a meaning");
  }
}

}  // namespace

NodePtr call_builtin(Builtin function, std::span<const NodePtr> x, const graph::Origin& origin) {
  const std::optional<Op> op = kBuiltins[static_cast<std::size_t>(function)].op;
  if (!op) return composed(function, x, origin);
  return x.size() == 1 ? graph::unary(*op, x[0], origin) : graph::binary(*op, x[0], x[1], origin);
}

}  // namespace oriel::lang
