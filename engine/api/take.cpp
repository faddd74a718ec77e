#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "api/call.hpp"
#include "graph/gather.hpp"
#include "oriel/error.hpp"
#include "oriel/movement.hpp"
#include "oriel/reduce.hpp"
#include "sym/decide.hpp"

namespace oriel {

using api::Access;
using api::Call;
using api::NodePtr;
using api::Op;

namespace {

NodePtr number(const Call& call, SymInt value, const graph::Node& like) {
  return graph::size_constant(value, DType::int64, like.shape, like.device, call.origin());
}

/// `index` as int64. Larger positions become the largest int64, which lies outside every axis.
NodePtr as_int64(const Call& call, const Tensor& index) {
  if (index.dtype() != DType::uint64) return call.cast(Access::node(index), DType::int64);
  const NodePtr most = graph::constant(graph::Scalar::of_int(DType::uint64, std::numeric_limits<std::int64_t>::max()),
                                       index.shape(), index.device(), call.origin());
  return call.cast(call.binary(Op::Min, Access::node(index), most), DType::int64);
}

/// Positions as int64 in [0, extent), or -1 where the index lies outside.
NodePtr positions(const Call& call, const Tensor& index, SymInt extent, Bounds bounds) {
  if (!is_integer(index.dtype())) {
    throw DTypeError(call.operation(), fmt::format("positions are integers, not {}", name(index.dtype())));
  }
  const NodePtr at = as_int64(call, index);
  const NodePtr zero = number(call, 0, *at);
  const NodePtr from_end = call.binary(Op::Add, at, number(call, extent, *at));
  const NodePtr moved = call.where(call.binary(Op::Lt, at, zero), from_end, at);
  const NodePtr inside =
      call.binary(Op::And, call.binary(Op::Le, zero, moved), call.binary(Op::Lt, moved, number(call, extent, *at)));
  if (bounds == Bounds::checked) {
    runtime::check_may_read(call.operation());
    const std::vector<bool> good = Access::tensor(inside).to_vector<bool>();
    for (std::size_t k = 0; k < good.size(); ++k) {
      if (good[k]) continue;
      throw IndexError(call.operation(),
                       fmt::format("index {} is out of range for an axis of size {}; valid are {} to {}",
                                   Access::tensor(at).to_vector<std::int64_t>()[k], to_string(extent),
                                   to_string(-extent), to_string(extent - 1)));
    }
  }
  return call.where(inside, moved, number(call, -1, *at));
}

/// Reads the elements of `source` over `domain`. The axes [axis, axis + wide) of the domain index `where`, which
/// holds the position along `axis`; the other axes index the source directly.
Tensor read(const Call& call, NodePtr source, std::size_t axis, const Shape& domain, std::size_t wide,
            const NodePtr& where) {
  const auto spread = [&](NodePtr x, std::size_t first) {  // the axes of x are those of the domain from `first` on
    Shape aligned(domain.size(), SymInt(1));
    for (std::size_t d = 0; d < x->shape.size(); ++d) aligned[first + d] = x->shape[d];
    return call.broadcast(call.reshape(std::move(x), aligned), domain);
  };
  const std::size_t first = where->shape.size() == domain.size() ? 0 : axis;
  std::vector<NodePtr> coordinates(source->shape.size());
  for (std::size_t d = 0; d < coordinates.size(); ++d) {
    const std::size_t here = d < axis ? d : d + wide - 1;
    coordinates[d] =
        d == axis ? spread(where, first) : spread(graph::iota({domain[here]}, where->device, call.origin()), here);
  }
  NodePtr inside = spread(call.binary(Op::Le, number(call, 0, *where), where), first);
  return Access::tensor(graph::gather_at(std::move(source), coordinates, std::move(inside), call.origin()));
}

}  // namespace

Tensor take(const Operand& x, const Tensor& index, std::int64_t axis, Bounds bounds) {
  const Call call("take", x);
  const NodePtr source = call.node(x);
  const std::size_t at = call.axis(axis, source->shape.size());
  const NodePtr where = positions(call, index, source->shape[at], bounds);
  Shape domain(source->shape.begin(), source->shape.begin() + static_cast<std::ptrdiff_t>(at));
  domain.insert(domain.end(), where->shape.begin(), where->shape.end());
  domain.insert(domain.end(), source->shape.begin() + static_cast<std::ptrdiff_t>(at) + 1, source->shape.end());
  return read(call, source, at, domain, where->shape.size(), where);
}

Tensor gather(const Operand& x, const Tensor& index, std::int64_t axis, Bounds bounds) {
  const Call call("gather", x);
  const NodePtr source = call.node(x);
  const std::size_t at = call.axis(axis, source->shape.size());
  const Shape& domain = index.shape();
  bool fits = domain.size() == source->shape.size();
  for (std::size_t d = 0; fits && d < domain.size(); ++d)
    fits = d == at || sym::required(domain[d] <= source->shape[d], "gather");
  if (!fits) {
    throw ShapeError("gather", fmt::format("an index {} does not fit {}: it has the same rank and, but for axis {}, no "
                                           "larger extents",
                                           to_string(domain), to_string(source->shape), at));
  }
  return read(call, source, at, domain, 1, positions(call, index, source->shape[at], bounds));
}

namespace {

/// Up to this many pairs of an entry and a position, all are compared.
constexpr std::int64_t kMostPairs = 1 << 20;

/// What put and put_add write: the values for each position, and where these are.
struct Writing {
  const Call& call;
  NodePtr source;
  NodePtr values;     // (.., k, ..): at the axis one entry for each position, in the source's dtype
  NodePtr positions;  // int64 (k), in [0, n) or -1
  std::size_t axis;
  SymInt n, k;

  /// x, which has one axis, along `axis` of a tensor like `shape`.
  NodePtr along(NodePtr x, const Shape& shape) const {
    Shape aligned(shape.size(), SymInt(1));
    aligned[axis] = x->shape[0];
    return call.broadcast(call.reshape(std::move(x), aligned), shape);
  }
  /// For each entry of the source, the row `rows` (int64 (n)) of `from` along the axis; 0 where that is negative.
  NodePtr rows_of(NodePtr from, const NodePtr& rows) const {
    return Access::node(read(call, std::move(from), axis, source->shape, 1, rows));
  }
  NodePtr entries() const { return graph::iota({n}, source->device, call.origin()); }
  NodePtr taken(const NodePtr& from, const NodePtr& rows) const {
    return Access::node(read(call, from, 0, rows->shape, 1, rows));
  }
};

Writing writing(const Call& call, const Operand& x, const Tensor& index, const Operand& values, std::int64_t axis) {
  NodePtr source = call.node(x);
  const std::size_t at = call.axis(axis, source->shape.size());
  NodePtr where = positions(call, index, source->shape[at], default_bounds());
  const auto cut = static_cast<std::ptrdiff_t>(at);
  Shape full(source->shape.begin(), source->shape.begin() + cut), flat = full;
  full.insert(full.end(), where->shape.begin(), where->shape.end());
  flat.push_back(numel(where->shape));
  for (Shape* shape : {&full, &flat}) shape->insert(shape->end(), source->shape.begin() + cut + 1, source->shape.end());
  NodePtr given = api::written_value(call, values, source->dtype, source->device);
  given = call.reshape(call.broadcast(std::move(given), full), flat);
  const SymInt n = source->shape[at], k = flat[at];
  where = call.reshape(std::move(where), {k});
  return {call, std::move(source), std::move(given), std::move(where), at, n, k};
}

/// May all pairs be compared, each with `each` elements? They are, where sizes are symbols: nothing is asked of these.
bool compares_pairs(const Writing& w, SymInt each) {
  if (w.n.is_symbolic() || w.k.is_symbolic() || each.is_symbolic()) return true;
  if (w.k.value() == 0) return true;
  return w.n.value() <= kMostPairs / w.k.value() &&
         w.n.value() * w.k.value() * std::max<std::int64_t>(each.value(), 1) <= kMostPairs;
}

/// The positions in ascending order, equal ones as they came, and where each entry's last one is in this order.
struct SortedPositions {
  NodePtr order;      // (k): which position comes there
  NodePtr positions;  // (k)
  NodePtr last;       // (n): -1 for an entry without a position
};

SortedPositions sorted_positions(const Writing& w) {
  const Call& call = w.call;
  SortedPositions out;
  out.order = Access::node(argsort(Operand(Access::tensor(w.positions), call.origin().site), 0));
  out.positions = w.taken(w.positions, out.order);
  // How many positions are at most the entry, bit by bit.
  const NodePtr entry = w.entries();
  const std::int64_t k = w.k.value();
  std::int64_t step = 1;
  while (step <= k / 2) step *= 2;
  NodePtr count = number(call, 0, *entry);
  for (; step > 0; step /= 2) {
    const NodePtr more = call.binary(Op::Add, count, number(call, step, *entry));
    const NodePtr fits = call.binary(Op::Le, more, number(call, k, *entry));
    const NodePtr at = call.where(fits, call.binary(Op::Sub, more, number(call, 1, *entry)), number(call, 0, *entry));
    const NodePtr below = call.binary(Op::Le, w.taken(out.positions, at), entry);
    count = call.where(call.binary(Op::And, fits, below), more, count);
  }
  const NodePtr last = call.binary(Op::Sub, count, number(call, 1, *entry));
  const NodePtr found = call.binary(Op::Eq, w.taken(out.positions, last), entry);
  // Without a position, taken() gives 0, which is an entry as well.
  const NodePtr some = call.binary(Op::And, found, call.binary(Op::Le, number(call, 0, *entry), last));
  out.last = call.where(some, last, number(call, -1, *entry));
  return out;
}

/// For each entry the number of its last position, or -1.
NodePtr last_numbers(const Writing& w) {
  const Call& call = w.call;
  if (!compares_pairs(w, 1)) {
    const SortedPositions sorted = sorted_positions(w);
    const NodePtr numbers = w.taken(sorted.order, sorted.last);
    return call.where(call.binary(Op::Lt, sorted.last, number(call, 0, *sorted.last)), sorted.last, numbers);
  }
  const Shape pairs{w.n, w.k};
  const auto spread = [&](NodePtr x, const Shape& shape) {
    return call.broadcast(call.reshape(std::move(x), shape), pairs);
  };
  const NodePtr hits = call.binary(Op::Eq, spread(w.entries(), {w.n, 1}), spread(w.positions, {1, w.k}));
  NodePtr numbers = spread(graph::iota({w.k}, w.source->device, call.origin()), {1, w.k});
  numbers = call.where(hits, numbers, number(call, -1, *numbers));
  numbers = call.drop(call.reduce(Op::ReduceMax, std::move(numbers), {1}), {1});
  return call.binary(Op::Max, numbers, number(call, -1, *numbers));  // no position at all
}

/// The sum of each entry's values, in a tensor like the source.
NodePtr sums(const Writing& w) {
  const Call& call = w.call;
  const DType dtype = is_floating(w.source->dtype) ? api::wide_dtype(w.source->dtype) : w.source->dtype;
  NodePtr values = call.cast(w.values, dtype);
  SymInt each = 1;
  for (std::size_t d = 0; d < w.source->shape.size(); ++d)
    if (d != w.axis) each *= w.source->shape[d];
  if (compares_pairs(w, each)) {
    // (.., n, k, ..)
    Shape pairs = w.source->shape;
    const auto behind = static_cast<std::ptrdiff_t>(w.axis) + 1;
    pairs.insert(pairs.begin() + behind, w.k);
    Shape entry(pairs.size(), SymInt(1)), position = entry, given = pairs;
    entry[w.axis] = w.n;
    position[w.axis + 1] = w.k;
    given[w.axis] = 1;
    const auto spread = [&](NodePtr x, const Shape& shape) {
      return call.broadcast(call.reshape(std::move(x), shape), pairs);
    };
    const NodePtr hits = call.binary(Op::Eq, spread(w.entries(), entry), spread(w.positions, position));
    values = spread(std::move(values), given);
    values = call.where(hits, values, call.like(values, 0));
    return call.drop(call.reduce(Op::Sum, std::move(values), {w.axis + 1}), {w.axis + 1});
  }
  const SortedPositions sorted = sorted_positions(w);
  values = Access::node(read(call, std::move(values), w.axis, w.values->shape, 1, sorted.order));
  // Sums within equal positions, by doubling the number of terms: the last of them ends with the sum of all.
  for (std::int64_t step = 1; step < w.k.value(); step *= 2) {
    const auto earlier = [&](NodePtr x, std::size_t axis) {
      Ranges around(x->shape.size(), Range{0, 0}), kept = api::whole(x->shape);
      around[axis] = {step, 0};
      return call.shrink(graph::pad(std::move(x), around, call.origin()), kept);
    };
    const NodePtr before = earlier(sorted.positions, 0);
    const NodePtr inside =
        call.binary(Op::Le, number(call, step, *before), graph::iota({w.k}, before->device, call.origin()));
    const NodePtr same = call.binary(Op::And, call.binary(Op::Eq, before, sorted.positions), inside);
    const NodePtr added = call.binary(Op::Add, earlier(values, w.axis), values);
    values = call.where(w.along(same, values->shape), added, values);
  }
  return w.rows_of(std::move(values), sorted.last);
}

}  // namespace

Tensor put(const Operand& x, const Tensor& index, const Operand& values, std::int64_t axis) {
  const Call call("put", x);
  const Writing w = writing(call, x, index, values, axis);
  const NodePtr last = last_numbers(w);
  const NodePtr written = call.binary(Op::Le, number(call, 0, *last), last);
  return Access::tensor(call.where(w.along(written, w.source->shape), w.rows_of(w.values, last), w.source));
}

Tensor put_add(const Operand& x, const Tensor& index, const Operand& values, std::int64_t axis) {
  const Call call("put_add", x);
  if (Access::default_dtype(x) == DType::bool_)
    throw DTypeError("put_add", "takes integers and floats, not bool; use put");
  const Writing w = writing(call, x, index, values, axis);
  NodePtr total = sums(w);
  total = call.binary(Op::Add, call.cast(w.source, total->dtype), total);
  return Access::tensor(call.cast(std::move(total), w.source->dtype));
}

}  // namespace oriel
