#include "functions/scatter_parts.hpp"

#include <algorithm>
#include <limits>

#include "backend/backend.hpp"
#include "graph/gather.hpp"
#include "oriel/reduce.hpp"
#include "sym/decide.hpp"

namespace oriel::api {

constinit std::atomic<std::int64_t> most_compared_pairs{1 << 20};

namespace {

/// The reduction that combines as a scatter does; for ScatterLast the largest number.
Op reduction_of(Op op) {
  switch (op) {
    case Op::ScatterSum:
      return Op::Sum;
    case Op::ScatterProd:
      return Op::Prod;
    case Op::ScatterMin:
      return Op::ReduceMin;
    default:
      return Op::ReduceMax;
  }
}

/// The value of an entry without positions.
graph::Scalar identity_of(Op op, DType dtype) {
  return op == Op::ScatterLast ? graph::Scalar::of_int(DType::int64, -1)
                               : graph::Scalar::of_identity(ops::identity(op, dtype), dtype);
}

/// Positions along one axis that name lines of values.
struct Lines {
  const Call& call;
  Op op;
  Shape shape;
  std::size_t axis;
  NodePtr positions;  // int64 (k), in [0, n) or -1
  NodePtr values;     // (.., k, ..); of ScatterLast int64 (k), the numbers themselves
  SymInt n, k;
  NodePtr number;  // all values are this one, or null

  NodePtr identity(const Shape& of) const {
    return graph::constant(identity_of(op, values->dtype), of, values->device, call.origin());
  }
  NodePtr joined(NodePtr a, NodePtr b) const {
    const Op with = op == Op::ScatterLast ? Op::Max : graph::row(op).combination;
    return call.binary(with, std::move(a), std::move(b));
  }
  NodePtr entries() const { return graph::iota({n}, positions->device, call.origin()); }
  NodePtr taken(const NodePtr& from, const NodePtr& rows) const {
    return Access::node(read_at(call, from, 0, rows->shape, 1, rows));
  }

  /// May all pairs be compared? They are, where sizes are symbols: nothing is asked of these.
  bool compares_pairs() const {
    SymInt each = 1;
    for (std::size_t d = 0; d < shape.size(); ++d)
      if (d != axis) each *= shape[d];
    if (n.is_symbolic() || k.is_symbolic() || each.is_symbolic()) return true;
    if (k.value() == 0) return true;
    const std::int64_t most = most_compared_pairs.load(std::memory_order_relaxed);
    return n.value() <= most / k.value() && n.value() * k.value() * std::max<std::int64_t>(each.value(), 1) <= most;
  }

  NodePtr by_pairs() const {
    // (.., n, k, ..)
    Shape pairs = shape;
    const auto behind = static_cast<std::ptrdiff_t>(axis) + 1;
    pairs.insert(pairs.begin() + behind, k);
    Shape entry(pairs.size(), SymInt(1)), position = entry, given = pairs;
    entry[axis] = n;
    position[axis + 1] = k;
    given[axis] = 1;
    const auto spread = [&](NodePtr x, const Shape& of) {
      return call.broadcast(call.reshape(std::move(x), of), pairs);
    };
    const NodePtr hits = call.binary(Op::Eq, spread(entries(), entry), spread(positions, position));
    NodePtr found = call.where(hits, spread(values, given), identity(pairs));
    found = call.drop(call.reduce(reduction_of(op), std::move(found), {axis + 1}), {axis + 1});
    return op == Op::ScatterLast ? joined(std::move(found), identity(shape)) : found;  // without a position: -1
  }

  /// How many of the positions, which are in ascending order, are at most each entry, found bit by bit.
  NodePtr at_most(const NodePtr& sorted, const NodePtr& entry) const {
    const auto constant = [&](std::int64_t value) { return position_number(call, value, *entry); };
    std::int64_t step = 1;
    while (step <= k.value() / 2) step *= 2;
    NodePtr count = constant(0);
    for (; step > 0; step /= 2) {
      const NodePtr more = call.binary(Op::Add, count, constant(step));
      const NodePtr fits = call.binary(Op::Le, more, constant(k.value()));
      const NodePtr at = call.where(fits, call.binary(Op::Sub, more, constant(1)), constant(0));
      const NodePtr below = call.binary(Op::Le, taken(sorted, at), entry);
      count = call.where(call.binary(Op::And, fits, below), more, count);
    }
    return count;
  }

  /// Each entry's last one among positions in ascending order; -1 for an entry without any.
  NodePtr last_of(const NodePtr& sorted) const {
    const NodePtr entry = entries();
    const auto constant = [&](std::int64_t value) { return position_number(call, value, *entry); };
    const NodePtr last = call.binary(Op::Sub, at_most(sorted, entry), constant(1));
    const NodePtr found = call.binary(Op::Eq, taken(sorted, last), entry);
    // Without a position, taken() gives 0, which is an entry as well.
    const NodePtr some = call.binary(Op::And, found, call.binary(Op::Le, constant(0), last));
    return call.where(some, last, constant(-1));
  }

  NodePtr along(NodePtr x, const Shape& like) const {
    Shape aligned(like.size(), SymInt(1));
    aligned[axis] = x->shape[0];
    return call.broadcast(call.reshape(std::move(x), aligned), like);
  }

  /// Sums of integers: differences of the sums of all values up to an entry's last one and up to the one before. They
  /// wrap as the sums do.
  NodePtr by_differences(const NodePtr& sorted, const NodePtr& order) const {
    const NodePtr entry = entries();
    const auto position = [&](std::int64_t value) { return position_number(call, value, *entry); };
    const NodePtr end = at_most(sorted, entry);
    const NodePtr begin = at_most(sorted, call.binary(Op::Sub, entry, position(1)));
    if (number != nullptr) {
      const NodePtr count = along(call.cast(call.binary(Op::Sub, end, begin), values->dtype), shape);
      return call.binary(Op::Mul, count, call.broadcast(number, shape));
    }
    const NodePtr taken_values = Access::node(read_at(call, values, axis, values->shape, 1, order));
    const NodePtr sums = graph::scan(Op::CumSum, taken_values, axis, call.origin());
    const auto up_to = [&](const NodePtr& place) {
      const NodePtr some = along(call.binary(Op::Lt, position(0), place), shape);
      const NodePtr at = call.binary(Op::Max, call.binary(Op::Sub, place, position(1)), position(0));
      NodePtr found = Access::node(read_at(call, sums, axis, shape, 1, at));
      const NodePtr none = graph::constant(graph::Scalar::of_int(found->dtype, 0), shape, found->device, call.origin());
      return call.where(some, std::move(found), none);
    };
    return call.cast(call.binary(Op::Sub, up_to(end), up_to(begin)), values->dtype);
  }

  /// The positions in an integer that is as short as they allow: a sort takes a pass for each of its bytes.
  NodePtr short_positions() const {
    const std::int64_t most = n.value();
    const DType dtype = most <= std::numeric_limits<std::int8_t>::max()    ? DType::int8
                        : most <= std::numeric_limits<std::int16_t>::max() ? DType::int16
                        : most <= std::numeric_limits<std::int32_t>::max() ? DType::int32
                                                                           : DType::int64;
    return call.cast(positions, dtype);
  }

  /// Sums of each run of equal positions up to each of its elements: one scan that restarts where a run begins.
  NodePtr in_runs(const NodePtr& sorted, NodePtr values_in_order) const {
    const NodePtr before = call.shrink(graph::pad(sorted, {Range{1, 0}}, call.origin()), {Range{0, k}});
    const NodePtr goes_on = call.binary(Op::Eq, before, sorted);  // the first factor counts for nothing
    const NodePtr factor = along(call.cast(goes_on, values_in_order->dtype), values_in_order->shape);
    return graph::recurrence(factor, std::move(values_in_order), axis, call.origin(), true);
  }

  NodePtr by_sorting() const {
    const NodePtr order = Access::node(argsort(Operand(Access::tensor(short_positions()), call.origin().site), 0));
    const NodePtr sorted = taken(positions, order);
    if (op == Op::ScatterSum && !is_floating(values->dtype) && values->dtype != DType::bool_)
      return by_differences(sorted, order);
    const NodePtr last = last_of(sorted);
    const auto none = [&](const Shape& of) {
      return along(call.binary(Op::Lt, last, position_number(call, 0, *last)), of);
    };
    // Equal positions come as they were, so the last of them has the largest number along the axis.
    if (op == Op::ScatterLast) return call.where(none(shape), identity(shape), taken(values, taken(order, last)));
    NodePtr combined = Access::node(read_at(call, values, axis, values->shape, 1, order));
    if (op == Op::ScatterSum && graph::scanned(combined->dtype) == combined->dtype) {
      combined = in_runs(sorted, std::move(combined));
      return call.where(none(shape), identity(shape), Access::node(read_at(call, combined, axis, shape, 1, last)));
    }
    // Combined within equal positions, by doubling the number of terms: the last of them ends with all.
    for (std::int64_t step = 1; step < k.value(); step *= 2) {
      const auto earlier = [&](NodePtr x, std::size_t d) {
        Ranges around(x->shape.size(), Range{0, 0}), kept = whole(x->shape);
        around[d] = {step, 0};
        return call.shrink(graph::pad(std::move(x), around, call.origin()), kept);
      };
      const NodePtr before = earlier(sorted, 0);
      const NodePtr inside =
          call.binary(Op::Le, position_number(call, step, *before), graph::iota({k}, before->device, call.origin()));
      const NodePtr same = call.binary(Op::And, call.binary(Op::Eq, before, sorted), inside);
      const NodePtr both = joined(earlier(combined, axis), combined);
      combined = call.where(along(same, combined->shape), both, combined);
    }
    return call.where(none(shape), identity(shape), Access::node(read_at(call, combined, axis, shape, 1, last)));
  }
};

/// With a position for each element, all of them as positions in the row-major order of the result.
NodePtr flat_positions(const Scattered& s, const NodePtr& at) {
  const Call& call = s.call;
  NodePtr flat = position_number(call, 0, *at);
  for (std::size_t d = 0; d < s.shape.size(); ++d) {
    Shape line(s.shape.size(), SymInt(1));
    line[d] = at->shape[d];
    const NodePtr place = d == s.axis ? at : call.broadcast(graph::iota(line, at->device, call.origin()), at->shape);
    flat = call.binary(Op::Add, call.binary(Op::Mul, flat, position_number(call, s.shape[d], *at)), place);
  }
  const NodePtr inside = call.binary(Op::Le, position_number(call, 0, *at), at);
  return call.where(inside, flat, position_number(call, -1, *at));
}

}  // namespace

Shape Scattered::lines() const {
  Shape out = shape;
  out[axis] = index->shape[each ? axis : 0];
  return out;
}

NodePtr Scattered::along(NodePtr x, const Shape& like) const {
  if (each) return x;
  Shape aligned(like.size(), SymInt(1));
  aligned[axis] = x->shape[0];
  return call.broadcast(call.reshape(std::move(x), aligned), like);
}

NodePtr scatter_by_order(const Scattered& s, Op op, NodePtr values) {
  const Call& call = s.call;
  NodePtr at = positions(call, Access::tensor(s.index), {s.shape[s.axis], s.axis}, Bounds::zero);
  const Shape shape = s.each ? Shape{numel(s.shape)} : op == Op::ScatterLast ? Shape{s.shape[s.axis]} : s.shape;
  const std::size_t axis = s.each || op == Op::ScatterLast ? 0 : s.axis;
  const Shape lines = s.lines();
  const NodePtr number = values != nullptr && values->shape.empty() ? values : nullptr;
  if (op == Op::ScatterLast) {
    const std::size_t along = s.each ? s.axis : 0;
    Shape line(at->shape.size(), SymInt(1));
    line[along] = at->shape[along];
    values = call.broadcast(graph::iota(line, at->device, call.origin()), at->shape);
  } else if (values->shape.empty()) {
    values = call.broadcast(std::move(values), lines);
  }
  if (s.each) {
    const Shape all{numel(at->shape)};
    at = call.reshape(flat_positions(s, at), all);
    values = call.reshape(std::move(values), all);
  }
  const SymInt n = shape[axis], k = at->shape[0];
  const Lines parts{call, op, shape, axis, std::move(at), std::move(values), n, k, number};
  NodePtr out = parts.compares_pairs() ? parts.by_pairs() : parts.by_sorting();
  return s.each ? call.reshape(std::move(out), s.shape) : out;
}

NodePtr Scattered::combine(Op op, NodePtr values) const {
  if (sym::known(numel(index->shape) == 0).value_or(false))
    return graph::constant(identity_of(op, values->dtype), shape, device, call.origin());
  NodePtr at = index;
  if (bounds == Bounds::checked) {
    const NodePtr check = position_check(call, index, {shape[axis], axis});
    // What another kernel computes anyway waits for the check, else what is smaller: positions or entries.
    const bool computed = !values->realized() || values->shape.empty();
    if (!computed && sym::known(numel(shape) <= numel(index->shape)).value_or(false))
      return after_check(call, Scattered{call, shape, axis, device, index, each, Bounds::zero}.combine(op, values),
                         check);
    NodePtr& waits = computed ? values : at;
    waits = after_check(call, std::move(waits), check);
  }
  if (!backend::backend_for(device).capabilities().scatters)
    return scatter_by_order({call, shape, axis, device, std::move(at), each}, op, std::move(values));
  return graph::scatter(op, std::move(at), std::move(values), shape, axis, shape[axis], call.origin());
}

NodePtr Scattered::last() const {
  const Shape of = each ? shape : Shape{shape[axis]};
  if (sym::known(numel(index->shape) == 0).value_or(false))
    return graph::constant(identity_of(Op::ScatterLast, DType::int64), of, device, call.origin());
  if (!backend::backend_for(device).capabilities().scatters) return scatter_by_order(*this, Op::ScatterLast, nullptr);
  return graph::scatter(Op::ScatterLast, index, nullptr, of, each ? axis : 0, shape[axis], call.origin());
}

NodePtr Scattered::last_values(const NodePtr& values, const NodePtr& last) const {
  return Access::node(read_at(call, values, axis, shape, 1, last));
}

}  // namespace oriel::api
