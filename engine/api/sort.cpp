// Sorting: by the device if it can sort, else by a network: Batcher's bitonic sorter, with the first step of each merge
// mirrored so that all pairs are compared in the same direction. A step of the network is one elementwise expression of
// an axis and its flip.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <vector>

#include "api/call.hpp"
#include "backend/backend.hpp"
#include "oriel/error.hpp"
#include "oriel/reduce.hpp"
#include "sym/decide.hpp"

namespace oriel {

using api::Access;
using api::Call;
using graph::NodePtr;
using graph::Op;
using graph::Scalar;

namespace {

NodePtr number(const Call& call, const NodePtr& x, std::int64_t value) {
  return graph::constant(Scalar::of_int(x->dtype, value), x->shape, x->device, call.origin());
}

// The signed integer as wide as a float.
DType integer_of(DType dtype) {
  return dtype == DType::float64 ? DType::int64 : dtype == DType::float32 ? DType::int32 : DType::int16;
}

std::int64_t largest(DType dtype) {
  if (dtype == DType::bool_) return 1;
  if (dtype == DType::uint64) return -1;
  const auto bits = static_cast<int>(8 * itemsize(dtype)) - (is_unsigned(dtype) ? 0 : 1);
  return static_cast<std::int64_t>((std::uint64_t{1} << bits) - 1);
}

// Maps the bits of a float to an integer whose order is the float's order. For negative numbers all bits except the
// sign are inverted. The mapping is its own inverse.
NodePtr mirror_negative(const Call& call, const NodePtr& bits) {
  const auto width = static_cast<std::int64_t>(8 * itemsize(bits->dtype));
  NodePtr sign = call.binary(Op::Shr, bits, number(call, bits, width - 1));
  return call.binary(Op::Xor, bits, call.binary(Op::And, std::move(sign), number(call, bits, largest(bits->dtype))));
}

// Maps each element to an integer in the order of the elements. NaN maps to the largest. With `one_zero`, -0 and 0 map
// to the same integer; else -0 comes first.
NodePtr order_of(const Call& call, const NodePtr& x, bool one_zero) {
  if (!is_floating(x->dtype)) return x;
  const NodePtr bits = graph::bitcast(x, integer_of(x->dtype), call.origin());
  NodePtr key = mirror_negative(call, bits);
  if (one_zero) key = call.where(call.binary(Op::Eq, x, call.like(x, 0)), number(call, bits, 0), std::move(key));
  return call.where(call.unary(Op::IsNan, x), number(call, bits, largest(bits->dtype)), std::move(key));
}

// The extents of the sorted axis, of the axes before it and of the axes after it.
struct Lane {
  std::int64_t outer = 1;
  std::int64_t extent = 1;  // a power of two
  std::int64_t inner = 1;
};

// The keys of the comparison: the second breaks ties of the first. No two elements have the same keys.
using Keys = std::vector<NodePtr>;

// One step of the network: orders pairs of positions in blocks of 2 * half, so that the smaller comes first. The pairs
// are `half` apart, or mirrored in the block.
void exchange(const Call& call, Keys& keys, const Lane& lane, std::int64_t half, bool mirrored) {
  const Shape shape{lane.outer * (lane.extent / (2 * half)), 2, half, lane.inner};
  Keys partner;
  for (NodePtr& key : keys) {
    key = call.reshape(std::move(key), shape);
    partner.push_back(graph::flip(key, mirrored ? Ints{1, 2} : Ints{1}, call.origin()));
  }
  NodePtr side = graph::iota({1, 2, 1, 1}, keys[0]->device, call.origin());
  const NodePtr first = call.broadcast(call.binary(Op::Eq, side, number(call, side, 0)), shape);
  if (keys.size() == 1) {
    keys[0] = call.where(first, call.binary(Op::Min, keys[0], partner[0]), call.binary(Op::Max, keys[0], partner[0]));
    return;
  }
  NodePtr less =
      call.binary(Op::And, call.binary(Op::Eq, partner[0], keys[0]), call.binary(Op::Lt, partner[1], keys[1]));
  less = call.binary(Op::Or, call.binary(Op::Lt, partner[0], keys[0]), std::move(less));
  const NodePtr taken = call.binary(Op::Eq, std::move(less), first);
  for (std::size_t k = 0; k < keys.size(); ++k) keys[k] = call.where(taken, partner[k], keys[k]);
}

void sort_keys(const Call& call, Keys& keys, const Lane& lane) {
  for (std::int64_t half = 1; half < lane.extent; half *= 2) {
    exchange(call, keys, lane, half, true);
    for (std::int64_t step = half / 2; step >= 1; step /= 2) exchange(call, keys, lane, step, false);
  }
}

// A tensor that is being sorted.
struct Sorting {
  Sorting(std::string_view name, const Operand& x, std::int64_t axis) : call(name, x), node(call.node(x)) {
    const Shape& shape = node->shape;
    const std::size_t d = call.axis(axis, std::max<std::size_t>(shape.size(), 1));
    if (sym::or_false(numel(shape) == 0)) return;
    for (std::size_t k = 0; k < shape.size(); ++k) (k < d ? outer : k == d ? row : inner) *= shape[k];
    const bool too_long = !row.is_symbolic() && row > std::int64_t{1} << 62;
    if (too_long) {
      throw OverflowError(name, fmt::format("{} elements in a row; the next power of two passes 2^63-1", row.value()));
    }
    if (native() || elsewhere()) return;
    // The network is built of the numbers.
    extent = row.value();
    lane.outer = outer.value();
    lane.inner = inner.value();
    lane.extent = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(extent)));
  }

  /// A row that depends on data is sorted, however long it turns out to be.
  bool trivial() const { return sym::or_false(numel(node->shape) == 0) || sym::or_false(row <= 1); }
  /// True if the device has a sort of its own.
  bool native() const { return backend::backend_for(node->device).capabilities().sorts; }
  /// A network is built of numbers. A row whose size depends on data is sorted by the host instead.
  bool elsewhere() const { return !native() && sym::depends_on_data(numel(node->shape)); }
  Tensor on_host() const {
    return Access::tensor(graph::copy(node, backend::host_device(node->device.context), call.origin()));
  }
  /// The sort op of the graph, along the axis.
  NodePtr sorted(Op op, bool descending) const {
    if (sym::or_false(inner == 1)) return graph::sort(op, call.reshape(node, {outer, row}), descending, call.origin());
    const Shape shape{outer, row, inner};
    NodePtr rows = call.permute(call.reshape(node, shape), {0, 2, 1});
    return call.permute(graph::sort(op, std::move(rows), descending, call.origin()), {0, 2, 1});
  }
  // `key` padded to a power of two with `last`, which no element exceeds.
  NodePtr padded(NodePtr key, std::int64_t last) const {
    key = call.reshape(std::move(key), {lane.outer, extent, lane.inner});
    const Scalar filler = Scalar::of_int(key->dtype, last);
    return call.pad(std::move(key), {{0, 0}, {0, lane.extent - extent}, {0, 0}}, filler);
  }
  // The elements without the padding, as (outer, extent, inner).
  NodePtr cut(NodePtr key) const {
    key = call.reshape(std::move(key), {lane.outer, lane.extent, lane.inner});
    return call.shrink(std::move(key), {{0, lane.outer}, {0, extent}, {0, lane.inner}});
  }
  // The result, with the strides of the operand if they are dense, else dense strides in the same order.
  Tensor finish(NodePtr x) const {
    return Access::tensor(call.laid_out(call.reshape(std::move(x), node->shape), *node));
  }

  Call call;
  NodePtr node;
  // Elements before, in and behind a row.
  SymInt outer = 1;
  SymInt row = 1;
  SymInt inner = 1;
  // The same of a sorting network; rows of a power of two.
  std::int64_t extent = 0;
  Lane lane;
};

// The order of the elements as int64, negated for a descending sort.
NodePtr wide_order(const Call& call, const NodePtr& x, bool descending) {
  NodePtr key = order_of(call, x, true);
  if (key->dtype == DType::uint64) {
    key = graph::bitcast(std::move(key), DType::int64, call.origin());
    key = call.binary(Op::Xor, key, number(call, key, std::numeric_limits<std::int64_t>::min()));
  }
  const bool centred = key->dtype == DType::uint32;  // centred, so that it fits a signed 32-bit integer
  key = call.cast(std::move(key), DType::int64);
  if (centred) key = call.binary(Op::Sub, key, number(call, key, std::int64_t{1} << 31));
  return descending ? call.unary(Op::Not, std::move(key)) : key;
}

}  // namespace

Tensor sort(const Operand& x, std::int64_t axis, bool descending) {
  const Sorting s("sort", x, axis);
  if (s.elsewhere()) return sort(s.on_host(), axis, descending).to(s.node->device);
  if (s.trivial()) return s.finish(s.node);
  const Call& call = s.call;
  if (s.native()) return s.finish(s.sorted(Op::Sort, descending));
  NodePtr key = order_of(call, s.node, false);
  Keys keys{s.padded(key, largest(key->dtype))};
  sort_keys(call, keys, s.lane);
  NodePtr out = s.cut(std::move(keys[0]));
  if (descending) out = graph::flip(std::move(out), {1}, call.origin());
  if (is_floating(s.node->dtype)) out = graph::bitcast(mirror_negative(call, out), s.node->dtype, call.origin());
  return s.finish(std::move(out));
}

Tensor argsort(const Operand& x, std::int64_t axis, bool descending) {
  const Sorting s("argsort", x, axis);
  if (s.elsewhere()) return argsort(s.on_host(), axis, descending).to(s.node->device);
  const Call& call = s.call;
  if (s.trivial()) {
    return s.finish(graph::constant(Scalar::of_int(DType::int64, 0), s.node->shape, s.node->device, call.origin()));
  }
  if (s.native()) return s.finish(s.sorted(Op::ArgSort, descending));
  constexpr std::int64_t last = std::numeric_limits<std::int64_t>::max();
  const Lane& lane = s.lane;
  const auto positions = [&](std::int64_t n) { return graph::iota({1, n, 1}, s.node->device, call.origin()); };
  const bool packed = itemsize(s.node->dtype) <= 4 && lane.extent <= std::int64_t{1} << 31;
  NodePtr key = call.reshape(wide_order(call, s.node, descending), {lane.outer, s.extent, lane.inner});
  Keys keys;
  if (packed) {  // key and position in one number
    NodePtr high = call.binary(Op::Shl, key, number(call, key, 32));
    keys.push_back(s.padded(call.binary(Op::Or, std::move(high), positions(s.extent)), last));
  } else {
    keys.push_back(s.padded(std::move(key), last));
    keys.push_back(call.broadcast(positions(lane.extent), keys[0]->shape));
  }
  sort_keys(call, keys, lane);
  NodePtr out = s.cut(std::move(keys.back()));
  if (packed) out = call.binary(Op::And, out, number(call, out, 0xffffffff));
  return s.finish(std::move(out));
}

}  // namespace oriel
