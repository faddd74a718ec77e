#include "formula/compare.hpp"

#include <cmath>
#include <optional>
#include <utility>

#include "formula/value.hpp"

namespace oriel::api {
namespace {

/// Binary digits of the integers that every element of the dtype is among, without a sign; those that a float holds.
int digits(DType dtype) {
  switch (dtype) {
    case DType::bool_:
      return 1;
    case DType::float16:
      return 11;
    case DType::bfloat16:
      return 8;
    case DType::float32:
      return 24;
    case DType::float64:
      return 53;
    default:
      return static_cast<int>(itemsize(dtype)) * 8 - (is_unsigned(dtype) ? 0 : 1);
  }
}

/// A dtype that holds the elements of both.
std::optional<DType> common_holder(DType a, DType b) {
  const DType both = promote(a, b);
  if (!is_floating(both)) return both;
  if (is_floating(a) == is_floating(b)) return is_floating(a) ? std::optional(both) : std::nullopt;
  const DType integer = is_floating(a) ? b : a;
  for (const DType dtype : {both, wide_dtype(both)})
    if (digits(integer) <= digits(dtype)) return dtype;
  return std::nullopt;
}

/// Both casts to uint64, of which the one of an integer with a sign counts only where it is not negative.
NodePtr of_signs(const Call& call, Op op, const NodePtr& a, const NodePtr& b) {
  const bool first = !is_unsigned(a->dtype);
  const bool negative_gives = op == Op::Ne || (first && op != Op::Eq);
  const NodePtr others = call.binary(op, call.cast(a, DType::uint64), call.cast(b, DType::uint64));
  const NodePtr below = call.binary(Op::Lt, first ? a : b, 0);
  return call.where(below, call.like(others, negative_gives ? 1 : 0), others);
}

/// integer op f, for floats f: with the whole number that f is (Eq), or the one above (Lt) or below it (Le).
NodePtr with_float(const Call& call, Op op, const NodePtr& integer, const NodePtr& real) {
  const DType whole = integer->dtype == DType::uint64 ? DType::uint64 : DType::int64;
  const NodePtr f = call.cast(real, wide_dtype(real->dtype));
  const NodePtr nearest = call.unary(op == Op::Lt ? Op::Ceil : Op::Floor, f);
  const double least = whole == DType::uint64 ? 0 : -0x1p63, beyond = whole == DType::uint64 ? 0x1p64 : 0x1p63;
  const NodePtr above = call.binary(Op::Le, call.like(f, beyond), f);
  NodePtr inside =
      call.binary(Op::And, call.binary(Op::Le, call.like(f, least), f), call.binary(Op::Lt, f, call.like(f, beyond)));
  if (op == Op::Eq) inside = call.binary(Op::And, inside, call.binary(Op::Eq, nearest, f));
  const NodePtr number = call.cast(call.where(inside, nearest, call.like(f, 0)), whole);
  const NodePtr out = call.binary(Op::And, inside, call.binary(op, call.cast(integer, whole), number));
  return op == Op::Eq ? out : call.binary(Op::Or, above, out);
}

}  // namespace

NodePtr compared(const Call& call, Op op, const NodePtr& a, const NodePtr& b) {
  if (const std::optional<DType> both = common_holder(a->dtype, b->dtype))
    return call.binary(op, call.cast(a, *both), call.cast(b, *both));
  if (is_floating(a->dtype) == is_floating(b->dtype)) return of_signs(call, op, a, b);
  if (op == Op::Ne) return call.unary(Op::Not, compared(call, Op::Eq, a, b));
  if (op == Op::Eq) return is_floating(b->dtype) ? with_float(call, op, a, b) : with_float(call, op, b, a);
  if (is_floating(b->dtype)) return with_float(call, op, a, b);
  // f < i unless i <= f, and f <= i unless i < f; never for NaN.
  const NodePtr reversed = with_float(call, op == Op::Lt ? Op::Le : Op::Lt, b, a);
  return call.unary(Op::Not, call.binary(Op::Or, reversed, call.unary(Op::IsNan, a)));
}

NodePtr comparable(const Call& call, const Operand& x, DType beside, Device device) {
  if (const Tensor* const tensor = Access::tensor(x)) return Access::node(*tensor);
  const DType own = Access::default_dtype(x);
  if (is_floating(own)) {
    const double value = Access::value(x);
    if (is_floating(beside)) return call.number(x, beside, {}, device);
    // An integer where it is one: not every device has float64.
    const bool whole = value == std::floor(value) && std::fabs(value) < 0x1p63;
    return graph::constant(graph::Scalar::of_float(DType::float64, value).cast(whole ? DType::int64 : DType::float64),
                           {}, device, call.origin());
  }
  if (own == DType::bool_ || Access::is_symbolic(x))
    return call.number(x, is_floating(beside) ? beside : own, {}, device);
  const bool above = Access::value(x) >= 0x1p63;
  const graph::Scalar number = Access::number(x, above ? DType::uint64 : DType::int64, call.operation());
  const graph::Scalar cast = number.cast(beside);
  // Casts wrap between integers and end at the last integer.
  const bool held = beside != DType::bool_ && cast.cast(number.dtype) == number &&
                    cast.as_double() == number.as_double() && cast.as_double() < (above ? 0x1p64 : 0x1p63);
  return graph::constant(held ? cast : number, {}, device, call.origin());
}

// On the bits, in the dtype itself: registers hold halves as float32. For positive x the next larger number has the
// next larger bits; for negative x, the next smaller one has.
NodePtr next_after(const Call& call, const NodePtr& x, const NodePtr& y) {
  constexpr DType kBits[] = {DType::int16, DType::int32, DType::int64};
  const DType bits = kBits[itemsize(x->dtype) / 4];
  const auto as_bits = [&](const NodePtr& node) { return Value(call, graph::bitcast(node, bits, call.origin())); };
  const Value at = as_bits(x), a(call, x), b(call, y);
  const auto number = [&](std::int64_t value) {
    return Value(call, graph::constant(graph::Scalar::of_int(bits, value), x->shape, x->device, call.origin()));
  };
  const Value outwards = (at < number(0)) == (b < a);
  const Value stepped = at + where(outwards, number(1), number(-1));
  // From 0 the smallest number with the sign of y.
  const std::int64_t lowest = graph::Scalar::of_int(bits, std::int64_t{1} << (8 * itemsize(bits) - 1)).i;
  const Value smallest = (as_bits(y) & number(lowest)) + number(1);
  const Value zero = at.binary(Op::Shl, number(1)) == number(0);
  const Value next(call, graph::bitcast(where(zero, smallest, stepped).node(), x->dtype, call.origin()));
  return where(isnan(a) | isnan(b), a + b, where(a == b, b, next)).node();
}

}  // namespace oriel::api
