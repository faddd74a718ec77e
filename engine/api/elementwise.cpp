#include <fmt/format.h>

#include <algorithm>
#include <numbers>

#include "formula/compare.hpp"
#include "oriel/error.hpp"
#include "oriel/ops.hpp"

namespace oriel {

using api::Access;
using api::Call;
using graph::NodePtr;
using graph::Op;

namespace {

Tensor binary(graph::UsedOp op, std::string_view name, const Operand& a, const Operand& b, bool floats = false) {
  const Call call(name, a);
  auto [x, y] = call.meet(a, b, floats);
  return Access::tensor(graph::binary(op, std::move(x), std::move(y), call.origin()));
}

// Integers of two dtypes are compared by their values, also where promotion would wrap a tensor without axes.
// `swapped`: the program wrote b op' a, with > for < and >= for <=.
Tensor compare(graph::UsedOp op, std::string_view name, const Operand& a, const Operand& b, bool swapped = false) {
  const Call call(name, a);
  const Tensor* const ta = Access::tensor(a);
  const Tensor* const tb = Access::tensor(b);
  NodePtr result;
  if (ta != nullptr && tb != nullptr && is_integer(ta->dtype()) && is_integer(tb->dtype())) {
    result = api::compared(call, op, Access::node(*ta), Access::node(*tb));
  } else {
    auto [x, y] = call.meet(a, b);
    result = graph::binary(op, std::move(x), std::move(y), call.origin());
  }
  // The result of more than one node says nothing of the operands' order.
  const bool mirrored = swapped && (result->op == op);
  return Access::tensor(mirrored ? graph::mirrored(std::move(result)) : std::move(result));
}

Tensor of_floats(graph::UsedOp op, std::string_view name, const Operand& x) {
  const Call call(name, x);
  NodePtr node = call.node(x);
  const DType dtype = api::floating_dtype(node->dtype);
  return Access::tensor(call.unary(op, call.cast(std::move(node), dtype)));
}

Tensor unary(graph::UsedOp op, std::string_view name, const Operand& x) {
  const Call call(name, x);
  return Access::tensor(call.unary(op, call.node(x)));
}

// Rounding functions, which return integers unchanged.
Tensor rounding(graph::UsedOp op, std::string_view name, const Operand& x) {
  const Call call(name, x);
  NodePtr node = call.node(x);
  return Access::tensor(is_floating(node->dtype) ? call.unary(op, std::move(node)) : node);
}

Tensor logical(graph::UsedOp op, std::string_view name, const Operand& a, const Operand& b) {
  const Call call(name, a);
  return Access::tensor(call.binary(op, call.to_bool(call.node(a)), call.to_bool(call.node(b))));
}

// Computes a composition in float32 or float64 and rounds once to the dtype of the operand.
template <class F>
Tensor composed(std::string_view name, const Operand& x, F&& f) {
  const Call call(name, x);
  NodePtr node = call.node(x);
  const DType dtype = api::floating_dtype(node->dtype);
  return Access::tensor(call.cast(f(call, call.cast(std::move(node), api::wide_dtype(dtype))), dtype));
}

NodePtr sigmoid_of(const Call& call, const NodePtr& x) {
  NodePtr e = call.unary(Op::Exp, call.unary(Op::Neg, x));
  return call.binary(Op::Div, call.like(x, 1), call.binary(Op::Add, std::move(e), 1));
}

// x where column - row <= diagonal (>= for `upper`), 0 elsewhere.
Tensor triangle(std::string_view name, const Operand& x, std::int64_t diagonal, bool upper) {
  const Call call(name, x);
  const NodePtr value = call.node(x);
  const std::size_t rank = value->shape.size();
  if (rank < 2)
    throw ShapeError(name, fmt::format("{} has fewer than the two axes of a matrix", to_string(value->shape)));
  const auto positions = [&](const Shape& shape) { return graph::iota(shape, value->device, call.origin()); };
  const NodePtr column = positions({1, value->shape[rank - 1]});
  const NodePtr row = positions({value->shape[rank - 2], 1});
  // Clamped to the possible differences of positions, so that no sum overflows.
  const SymInt step = sym_max(sym_min(diagonal, column->shape[1]), -row->shape[0]);
  const NodePtr last = call.binary(Op::Add, row, step);
  NodePtr kept = upper ? call.binary(Op::Le, last, column) : call.binary(Op::Le, column, last);
  return Access::tensor(call.where(std::move(kept), value, call.like(value, 0)));
}

bool is_bool(const Operand& x) { return Access::default_dtype(x) == DType::bool_; }

}  // namespace

Tensor operator+(const Operand& a, const Operand& b) { return binary(Op::Add, "add", a, b); }

Tensor operator-(const Operand& a, const Operand& b) {
  // Without this check a bool would be promoted beside a number and count as 0 or 1, which is more often a mistake than
  // intended.
  if (is_bool(a) || is_bool(b)) {
    const Call call("sub", a);
    throw DTypeError("sub", "takes integers and floats, not bool; use ^ or logical_not, or cast first");
  }
  return binary(Op::Sub, "sub", a, b);
}

Tensor operator*(const Operand& a, const Operand& b) { return binary(Op::Mul, "mul", a, b); }
Tensor operator/(const Operand& a, const Operand& b) { return binary(Op::Div, "div", a, b, true); }
Tensor operator%(const Operand& a, const Operand& b) { return binary(Op::Remainder, "remainder", a, b); }
Tensor operator-(const Operand& x) { return unary(Op::Neg, "neg", x); }

Tensor operator+(const Operand& x) {
  const Call call("positive", x);
  return Access::tensor(call.node(x));
}

Tensor floor_divide(const Operand& a, const Operand& b) { return binary(Op::FloorDiv, "floor_divide", a, b); }
Tensor trunc_divide(const Operand& a, const Operand& b) { return binary(Op::TruncDiv, "trunc_divide", a, b); }
Tensor remainder(const Operand& a, const Operand& b) { return binary(Op::Remainder, "remainder", a, b); }
Tensor fmod(const Operand& a, const Operand& b) { return binary(Op::Fmod, "fmod", a, b); }
Tensor pow(const Operand& a, const Operand& b) { return binary(Op::Pow, "pow", a, b); }
Tensor atan2(const Operand& y, const Operand& x) { return binary(Op::Atan2, "atan2", y, x, true); }
Tensor hypot(const Operand& x, const Operand& y) { return binary(Op::Hypot, "hypot", x, y, true); }
Tensor copysign(const Operand& x, const Operand& y) { return binary(Op::Copysign, "copysign", x, y, true); }
Tensor nextafter(const Operand& x, const Operand& y) {
  const Call call("nextafter", x);
  auto [from, to] = call.meet(x, y, true);
  return Access::tensor(api::next_after(call, from, to));
}
Tensor minimum(const Operand& a, const Operand& b) { return binary(Op::Min, "minimum", a, b); }
Tensor maximum(const Operand& a, const Operand& b) { return binary(Op::Max, "maximum", a, b); }

Tensor clamp(const Operand& x, const Operand& low, const Operand& high) {
  const Call call("clamp", x);
  auto [above, lo] = call.meet(x, low);
  // The next promotion sees a tensor of this dtype, whatever `x` and `low` were.
  const Tensor raised =
      Access::tensor(graph::tied(call.binary(Op::Max, std::move(above), std::move(lo)), graph::Tie::first));
  auto [below, hi] = call.meet(raised, high);
  return Access::tensor(graph::tied(call.binary(Op::Min, std::move(below), std::move(hi)), graph::Tie::first));
}

Tensor operator==(const Operand& a, const Operand& b) { return compare(Op::Eq, "equal", a, b); }
Tensor operator!=(const Operand& a, const Operand& b) { return compare(Op::Ne, "not_equal", a, b); }
Tensor operator<(const Operand& a, const Operand& b) { return compare(Op::Lt, "less", a, b); }
Tensor operator<=(const Operand& a, const Operand& b) { return compare(Op::Le, "less_equal", a, b); }
Tensor operator>(const Operand& a, const Operand& b) { return compare(Op::Lt, "greater", b, a, true); }
Tensor operator>=(const Operand& a, const Operand& b) { return compare(Op::Le, "greater_equal", b, a, true); }

Tensor logical_and(const Operand& a, const Operand& b) { return logical(Op::And, "logical_and", a, b); }
Tensor logical_or(const Operand& a, const Operand& b) { return logical(Op::Or, "logical_or", a, b); }
Tensor logical_xor(const Operand& a, const Operand& b) { return logical(Op::Xor, "logical_xor", a, b); }

Tensor logical_not(const Operand& x) {
  const Call call("logical_not", x);
  return Access::tensor(call.unary(Op::Not, call.to_bool(call.node(x))));
}

Tensor operator&&(const Operand& a, const Operand& b) { return logical_and(a, b); }
Tensor operator||(const Operand& a, const Operand& b) { return logical_or(a, b); }
Tensor operator!(const Operand& x) { return logical_not(x); }

namespace {

// The line that built the operand, for operators that cannot know their own.
Site built_at(const Operand& x) {
  return Access::tensor(x) != nullptr ? Access::node(*Access::tensor(x))->site : Site::unknown();
}

// The same operand with another line.
Operand at_line(const Operand& x, Site site) {
  return Access::tensor(x) != nullptr ? Operand(*Access::tensor(x), site) : x;
}

Tensor logical_here(graph::UsedOp op, std::string_view name, const Operand& a, const Operand& b) {
  const Site line = Access::tensor(b) != nullptr ? built_at(b) : built_at(a);
  return logical(op, name, at_line(a, line), b);
}

}  // namespace

Tensor operator!(const Tensor& x) { return logical_not(Operand(x, built_at(Operand(x, Site::unknown())))); }
Tensor detail::both(const Operand& a, const Operand& b) { return logical_here(Op::And, "logical_and", a, b); }
Tensor detail::either(const Operand& a, const Operand& b) { return logical_here(Op::Or, "logical_or", a, b); }

Tensor operator&(const Operand& a, const Operand& b) { return binary(Op::And, "bitwise_and", a, b); }
Tensor operator|(const Operand& a, const Operand& b) { return binary(Op::Or, "bitwise_or", a, b); }
Tensor operator^(const Operand& a, const Operand& b) { return binary(Op::Xor, "bitwise_xor", a, b); }
Tensor operator~(const Operand& x) { return unary(Op::Not, "bitwise_not", x); }
Tensor operator<<(const Operand& a, const Operand& b) { return binary(Op::Shl, "left_shift", a, b); }
Tensor operator>>(const Operand& a, const Operand& b) { return binary(Op::Shr, "right_shift", a, b); }

Tensor where(const Operand& c, const Operand& x, const Operand& y) {
  const Call call("where", c);
  const DType dtype = api::common_dtype({&x, &y});
  NodePtr condition = call.to_bool(call.node(c));
  NodePtr yes = call.node(x, dtype, {}, condition->device);
  NodePtr no = call.node(y, dtype, {}, condition->device);
  return Access::tensor(call.where(std::move(condition), std::move(yes), std::move(no)));
}

Tensor masked_fill(const Operand& x, const Operand& mask, const Operand& value) {
  const Call call("masked_fill", x);
  NodePtr node = call.node(x);
  if (Access::default_dtype(mask) != DType::bool_) {
    throw DTypeError("masked_fill",
                     fmt::format("the mask is {}; it must be bool, such as x != 0", name(Access::default_dtype(mask))));
  }
  NodePtr filled = call.broadcast(api::written_value(call, value, node->dtype, node->device), node->shape);
  NodePtr chosen = call.broadcast(call.node(mask, DType::bool_, {}, node->device), node->shape);
  return Access::tensor(call.where(std::move(chosen), std::move(filled), std::move(node)));
}

Tensor tril(const Operand& x, std::int64_t diagonal) { return triangle("tril", x, diagonal, false); }
Tensor triu(const Operand& x, std::int64_t diagonal) { return triangle("triu", x, diagonal, true); }

Tensor exp(const Operand& x) { return of_floats(Op::Exp, "exp", x); }
Tensor exp2(const Operand& x) { return of_floats(Op::Exp2, "exp2", x); }
Tensor log(const Operand& x) { return of_floats(Op::Log, "log", x); }
Tensor log2(const Operand& x) { return of_floats(Op::Log2, "log2", x); }
Tensor expm1(const Operand& x) { return of_floats(Op::Expm1, "expm1", x); }
Tensor log1p(const Operand& x) { return of_floats(Op::Log1p, "log1p", x); }
Tensor log10(const Operand& x) { return of_floats(Op::Log10, "log10", x); }
Tensor sqrt(const Operand& x) { return of_floats(Op::Sqrt, "sqrt", x); }
Tensor rsqrt(const Operand& x) { return of_floats(Op::Rsqrt, "rsqrt", x); }
Tensor sin(const Operand& x) { return of_floats(Op::Sin, "sin", x); }
Tensor cos(const Operand& x) { return of_floats(Op::Cos, "cos", x); }
Tensor tan(const Operand& x) { return of_floats(Op::Tan, "tan", x); }
Tensor asin(const Operand& x) { return of_floats(Op::Asin, "asin", x); }
Tensor acos(const Operand& x) { return of_floats(Op::Acos, "acos", x); }
Tensor atan(const Operand& x) { return of_floats(Op::Atan, "atan", x); }
Tensor sinh(const Operand& x) { return of_floats(Op::Sinh, "sinh", x); }
Tensor cosh(const Operand& x) { return of_floats(Op::Cosh, "cosh", x); }
Tensor asinh(const Operand& x) { return of_floats(Op::Asinh, "asinh", x); }
Tensor acosh(const Operand& x) { return of_floats(Op::Acosh, "acosh", x); }
Tensor atanh(const Operand& x) { return of_floats(Op::Atanh, "atanh", x); }
Tensor tanh(const Operand& x) { return of_floats(Op::Tanh, "tanh", x); }
Tensor erf(const Operand& x) { return of_floats(Op::Erf, "erf", x); }
Tensor erfc(const Operand& x) { return of_floats(Op::Erfc, "erfc", x); }

Tensor reciprocal(const Operand& x) { return binary(Op::Div, "reciprocal", Operand(1, Access::site(x)), x, true); }

Tensor sigmoid(const Operand& x) {
  return composed("sigmoid", x, [](const Call& call, const NodePtr& v) { return sigmoid_of(call, v); });
}

Tensor silu(const Operand& x) {
  return composed("silu", x,
                  [](const Call& call, const NodePtr& v) { return call.binary(Op::Mul, v, sigmoid_of(call, v)); });
}

Tensor gelu(const Operand& x) {
  return composed("gelu", x, [](const Call& call, const NodePtr& v) {
    NodePtr e = call.unary(Op::Erf, call.binary(Op::Mul, v, 1 / std::numbers::sqrt2));
    return call.binary(Op::Mul, call.binary(Op::Mul, v, 0.5), call.binary(Op::Add, std::move(e), 1));
  });
}

Tensor relu(const Operand& x) {
  const Call call("relu", x);
  if (is_bool(x)) throw DTypeError("relu", "takes integers and floats, not bool");
  return Access::tensor(graph::tied(call.binary(Op::Max, call.node(x), 0), graph::Tie::none));
}

Tensor abs(const Operand& x) {
  const Call call("abs", x);
  NodePtr node = call.node(x);
  const bool same = node->dtype == DType::bool_ || is_unsigned(node->dtype);
  return Access::tensor(same ? node : call.unary(Op::Abs, std::move(node)));
}

Tensor sign(const Operand& x) { return unary(Op::Sign, "sign", x); }
Tensor floor(const Operand& x) { return rounding(Op::Floor, "floor", x); }
Tensor ceil(const Operand& x) { return rounding(Op::Ceil, "ceil", x); }
Tensor round(const Operand& x) { return rounding(Op::Round, "round", x); }
Tensor trunc(const Operand& x) { return rounding(Op::Trunc, "trunc", x); }

Tensor square(const Operand& x) {
  const Call call("square", x);
  NodePtr node = call.node(x);
  if (node->dtype == DType::bool_) node = call.cast(std::move(node), DType::int64);  // x to the power of the number 2
  return Access::tensor(call.binary(Op::Mul, node, node));
}

Tensor isnan(const Operand& x) { return unary(Op::IsNan, "isnan", x); }
Tensor isinf(const Operand& x) { return unary(Op::IsInf, "isinf", x); }

Tensor isfinite(const Operand& x) {
  const Call call("isfinite", x);
  const NodePtr node = call.node(x);
  return Access::tensor(
      call.unary(Op::Not, call.binary(Op::Or, call.unary(Op::IsNan, node), call.unary(Op::IsInf, node))));
}

Tensor cast(const Operand& x, DType dtype) {
  const Call call("cast", x);
  return Access::tensor(call.cast(call.node(x), dtype));
}

Tensor bitcast(const Operand& x, DType dtype) {
  const Call call("bitcast", x);
  return Access::tensor(graph::bitcast(call.node(x), dtype, call.origin()));
}

}  // namespace oriel
