#include "graph/next_after.hpp"

namespace oriel::graph {

// On the bits, in the dtype itself: registers hold halves as float32. For positive x the next larger number has the
// next larger bits; for negative x, the next smaller one has.
NodePtr next_after(const NodePtr& x, const NodePtr& y, const Origin& origin) {
  constexpr DType kBits[] = {DType::int16, DType::int32, DType::int64};
  const DType bits = kBits[itemsize(x->dtype) / 4];
  const auto number = [&](std::int64_t value) {
    return constant(Scalar::of_int(bits, value), x->shape, x->device, origin);
  };
  const auto of = [&](Op op, const NodePtr& a, const NodePtr& b) { return binary(op, a, b, origin); };
  const NodePtr at = bitcast(x, bits, origin);
  const NodePtr negative = of(Op::Lt, at, number(0));
  const NodePtr outwards = of(Op::Eq, negative, of(Op::Lt, y, x));
  const NodePtr stepped = of(Op::Add, at, where(outwards, number(1), number(-1), origin));
  // From 0 the smallest number with the sign of y.
  const std::int64_t lowest = Scalar::of_int(bits, std::int64_t{1} << (8 * itemsize(bits) - 1)).i;
  const NodePtr smallest = of(Op::Add, of(Op::And, bitcast(y, bits, origin), number(lowest)), number(1));
  const NodePtr zero = of(Op::Eq, of(Op::Shl, at, number(1)), number(0));
  const NodePtr moved = bitcast(where(zero, smallest, stepped, origin), x->dtype, origin);
  const NodePtr result = where(of(Op::Eq, x, y), y, moved, origin);
  const NodePtr unordered = of(Op::Or, unary(Op::IsNan, x, origin), unary(Op::IsNan, y, origin));
  return where(unordered, of(Op::Add, x, y), result, origin);
}

}  // namespace oriel::graph
