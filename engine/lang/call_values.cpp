#include "lang/lower.hpp"

#include <numbers>
#include <vector>

#include "formula/compare.hpp"
#include "formula/value.hpp"
#include "oriel/error.hpp"

namespace oriel::lang {
namespace {

using api::Value;
using graph::NodePtr;
using graph::Op;

// Functions of several ops.
Value composed(Builtin function, std::span<const Value> x) {
  const Value& a = x[0];
  const Value& b = x.size() > 1 ? x[1] : x[0];
  switch (function) {
    case Builtin::exp10_:
      return a.like(10).binary(Op::Pow, a);
    case Builtin::cbrt_:
      return abs(a).binary(Op::Pow, 1.0 / 3.0).binary(Op::Copysign, a);
    case Builtin::rcbrt_:
      return 1 / composed(Builtin::cbrt_, x);
    case Builtin::sinpi_:  // the remainder by 2 is exact
      return sin(a.binary(Op::Fmod, 2) * std::numbers::pi);
    case Builtin::cospi_:
      return (a.binary(Op::Fmod, 2) * std::numbers::pi).unary(Op::Cos);
    case Builtin::round_: {  // ties away from zero; the fraction is exact
      const Value size = abs(a), whole = size.unary(Op::Floor);
      return where(size - whole >= 0.5, whole + 1, whole).binary(Op::Copysign, a);
    }
    case Builtin::fmin_:  // unlike the operators, fmin and fmax ignore a NaN
      return where(isnan(a), b, where(isnan(b), a, min(a, b)));
    case Builtin::fmax_:
      return where(isnan(a), b, where(isnan(b), a, max(a, b)));
    case Builtin::remainder_:  // the quotient is rounded to the nearest integer
      return a - b * round(a / b);
    case Builtin::nextafter_:
      return {a.call(), api::next_after(a.call(), a.node(), b.node())};
    case Builtin::fdim_:
      return max(a - b, 0);
    case Builtin::fma_:
      return a * b + x[2];
    default:
      throw InternalError("comprehension", "a builtin function without a meaning");
  }
}

}  // namespace

NodePtr call_builtin(Builtin function, std::span<const NodePtr> x, const graph::Origin& origin) {
  const std::optional<Op> op = kBuiltins[static_cast<std::size_t>(function)].op;
  if (op) return x.size() == 1 ? graph::unary(*op, x[0], origin) : graph::binary(*op, x[0], x[1], origin);
  const detail::CallSite line(origin.site, detail::CallSite::Nesting::inner);  // the statement's, not the caller's
  const api::Call call(origin.operation, origin.site);
  std::vector<Value> values;
  for (const NodePtr& node : x) values.emplace_back(call, node);
  return composed(function, values).node();
}

}  // namespace oriel::lang
