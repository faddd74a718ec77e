// Sums by group, counts and histograms.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/parts.hpp"
#include "formula/compare.hpp"
#include "formula/value.hpp"
#include "functions/scatter_parts.hpp"
#include "oriel/create.hpp"
#include "oriel/error.hpp"
#include "oriel/nonzero.hpp"
#include "oriel/order.hpp"
#include "oriel/reduce.hpp"
#include "oriel/scatter.hpp"
#include "oriel/shape_env.hpp"

namespace oriel {

using api::Access;
using api::Call;
using api::NodePtr;
using api::Op;
using api::Scattered;
using api::Value;

namespace {

NodePtr one(const Call& call, Device device) {
  return graph::constant(graph::Scalar::of_int(DType::int64, 1), {}, device, call.origin());
}

/// Entries of values along an axis by their groups.
struct Groups {
  Groups(const char* name, const Operand& values, const Tensor& groups, SymInt count, std::int64_t along, Bounds bounds)
      : call(name, values), source(call.node(values)), at(api::raw_positions(call, groups)) {
    if (at->shape.size() != 1) throw ShapeError(name, fmt::format("the groups {} are no vector", to_string(at->shape)));
    if (!count.is_symbolic() && count < 0)
      throw ArgumentError(name, fmt::format("the count of groups is {}; give a number >= 0", to_string(count)));
    Shape shape = source->shape;
    axis = shape.empty() ? 0 : call.axis(along, shape.size());
    if (shape.empty()) shape.push_back(at->shape[0]);  // a number for each position
    if (!static_cast<bool>(shape[axis] == at->shape[0])) {
      throw ShapeError(name, fmt::format("{} groups for the {} entries along axis {} of {}", to_string(at->shape[0]),
                                         to_string(shape[axis]), axis, to_string(shape)));
    }
    shape[axis] = count;
    bounds = api::checked_for(call, shape, Access::node(groups), {count, axis}, bounds);
    own = source->dtype;
    dtype = is_floating(own) ? api::wide_dtype(own) : own;
    values_of.emplace(Scattered{call, std::move(shape), axis, source->device, at, false, bounds});
  }

  Value combined(Op op) const { return {call, values_of->combine(op, call.cast(source, dtype))}; }
  Value sums(const char* instead) const {
    if (own == DType::bool_)
      throw DTypeError(call.operation(), fmt::format("takes integers and floats, not bool; use {}", instead));
    return combined(Op::ScatterSum);
  }

  Call call;
  NodePtr source, at;
  std::size_t axis = 0;
  DType own = DType::float32, dtype = DType::float32;
  std::optional<Scattered> values_of;
};

}  // namespace

Tensor segment_sum(const Operand& values, const Tensor& groups, SymInt count, std::int64_t axis, Bounds bounds) {
  const Groups g("segment_sum", values, groups, count, axis, bounds);
  return g.sums("segment_max").to(g.own).tensor();
}

Tensor segment_prod(const Operand& values, const Tensor& groups, SymInt count, std::int64_t axis, Bounds bounds) {
  const Groups g("segment_prod", values, groups, count, axis, bounds);
  (void)g.sums("segment_min");
  return g.combined(Op::ScatterProd).to(g.own).tensor();
}

Tensor segment_max(const Operand& values, const Tensor& groups, SymInt count, std::int64_t axis, Bounds bounds) {
  const Groups g("segment_max", values, groups, count, axis, bounds);
  return g.combined(Op::ScatterMax).to(g.own).tensor();
}

Tensor segment_min(const Operand& values, const Tensor& groups, SymInt count, std::int64_t axis, Bounds bounds) {
  const Groups g("segment_min", values, groups, count, axis, bounds);
  return g.combined(Op::ScatterMin).to(g.own).tensor();
}

Tensor segment_mean(const Operand& values, const Tensor& groups, SymInt count, std::int64_t axis, Bounds bounds) {
  Groups g("segment_mean", values, groups, count, axis, bounds);
  if (is_integer(g.own)) g.dtype = api::total_dtype(g.own);
  const Value total = g.sums("segment_max");
  const Scattered& s = *g.values_of;
  const Scattered entries{g.call, {s.shape[g.axis]}, 0, s.device, s.index, false, Bounds::zero};
  const Value counts = max(Value(g.call, entries.combine(Op::ScatterSum, one(g.call, s.device))), 1);
  const Value divisor(g.call, s.along(counts.to(g.dtype).node(), s.shape));
  return total.binary(is_floating(g.dtype) ? Op::Div : Op::FloorDiv, divisor).to(g.own).tensor();
}

namespace {

/// How often each place from 0 on occurs, or the sums of what each of them weighs. `shape`: that of the weights.
Tensor counts_at(const Value& places, SymInt count, const std::optional<Tensor>& weights, const Shape& shape) {
  const Call& call = places.call();
  const Scattered entries{call, {count}, 0, places.device(), places.node(), false, Bounds::zero};
  if (!weights) return Access::tensor(entries.combine(Op::ScatterSum, one(call, places.device())));
  if (!graph::known_same(weights->shape(), shape)) {
    throw ShapeError(call.operation(),
                     fmt::format("weights {} for elements {}", to_string(weights->shape()), to_string(shape)));
  }
  const DType own = is_floating(weights->dtype()) ? weights->dtype() : api::total_dtype(weights->dtype());
  const DType dtype = is_floating(own) ? api::wide_dtype(own) : own;
  const NodePtr each = call.reshape(call.cast(Access::node(*weights), dtype), places.shape());
  return Access::tensor(call.cast(entries.combine(Op::ScatterSum, each), own));
}

Tensor counted(const Operand& x, const std::optional<Tensor>& weights, std::int64_t least) {
  base::need<base::kHistograms>("bincount");
  const Call call("bincount", x);
  const NodePtr source = call.node(x);
  if (least < 0) throw ArgumentError("bincount", fmt::format("the least number of counts is {}; it is >= 0", least));
  NodePtr at = api::raw_positions(call, Access::tensor(source));
  at = call.reshape(at, {numel(at->shape)});
  SymInt count = least;
  if (runtime::tracing()) {
    // Each call reads the least and the greatest number. Of no numbers they are the greatest and the least integer.
    const Tensor list = Access::tensor(at);
    const SymInt fewest = item(min(list)), most = item(max(list));
    expect_true(fewest >= 0);
    expect_true(most < std::numeric_limits<std::int64_t>::max());
    count = sym_max(count, most + 1);
  } else if (numel(at->shape) != 0) {
    runtime::check_may_read("bincount");
    const Tensor list = Access::tensor(at), ends[] = {min(list), max(list)};
    realize({list, ends[0], ends[1]}, call.origin().site);  // what is scattered is in memory: it is computed once
    if (ends[0].item<std::int64_t>() < 0) {
      throw ArgumentError(
          "bincount", fmt::format("{} is among the numbers; they are counted from 0", ends[0].item<std::int64_t>()));
    }
    const auto most = ends[1].item<std::int64_t>();
    if (most == std::numeric_limits<std::int64_t>::max())
      throw OverflowError("bincount", "2^63-1 or more is among the numbers; there are at most 2^63-1 counts");
    count = std::max(least, most + 1);
  }
  return counts_at(Value(call, at), count, weights, source->shape);
}

/// Intervals of equal width, each with its lower edge, the last one also with its upper one.
struct Bins {
  std::int64_t count;
  double low, high;
  DType dtype;         // of the elements and of the edges
  bool wide = false;   // are edges computed in float64 and from the nearer end? Else something passes the dtype's range
  bool tight = false;  // are edges rounded by a good part of the width?

  static Bins of(const Call& call, std::int64_t count, std::pair<double, double> range, DType dtype) {
    if (count < 1) throw ArgumentError(call.operation(), fmt::format("{} bins; there is at least 1", count));
    if (count == std::numeric_limits<std::int64_t>::max())
      throw OverflowError(call.operation(), fmt::format("the edges of {} bins pass 2^63-1", count));
    Bins b{count, range.first, range.second, dtype};
    if (!std::isfinite(b.rounded(b.low)) || !std::isfinite(b.rounded(b.high)) || b.low > b.high) {
      throw ArgumentError(call.operation(),
                          fmt::format("a range from {} to {}; both ends are finite in {} and in order", range.first,
                                      range.second, name(dtype)));
    }
    if (b.low == b.high) {
      b.low -= 0.5;
      b.high += 0.5;
    }
    const bool narrow = dtype == DType::float32;
    const double most = narrow ? std::numeric_limits<float>::max() : std::numeric_limits<double>::max();
    const double least = narrow ? std::numeric_limits<float>::min() : std::numeric_limits<double>::min();
    b.wide = b.high - b.low > most || (narrow && count > 1 << 22);
    if (b.wide) b = {count, b.rounded(b.low), b.rounded(b.high), dtype, true};
    const double unit = std::max(std::abs(b.low), std::abs(b.high)) * (narrow ? 0x1p-23 : 0x1p-52);
    b.tight = !(b.width() > 8 * std::max(unit, least));
    // From both ends, where numbers are farthest apart. Beyond so many bins the ends stand for all.
    for (std::int64_t k = 0; b.tight && k < std::min<std::int64_t>(count, 1 << 20); ++k) {
      if (b.edge(k) < b.edge(k + 1) && b.edge(count - k - 1) < b.edge(count - k)) continue;
      throw ArgumentError(call.operation(), fmt::format("{} bins from {} to {}; {} has too few numbers between them",
                                                        count, range.first, range.second, name(dtype)));
    }
    return b;
  }

  double rounded(double x) const { return dtype == DType::float32 ? static_cast<float>(x) : x; }
  double width() const {
    const auto n = static_cast<double>(count);
    return wide ? high / n - low / n : (high - low) / n;
  }
  double edge(std::int64_t number) const {
    const auto k = static_cast<double>(number), n = static_cast<double>(count);
    if (number == count) return rounded(high);
    if (wide) return rounded(k < n * 0.5 ? k * width() + low : high - (n - k) * width());
    return rounded(rounded(k * rounded(width())) + rounded(low));
  }
  /// Edge k, k from 0 to count.
  Value edge(const Value& number) const {
    const auto n = static_cast<double>(count);
    const Value k = number.to(wide ? DType::float64 : dtype);
    if (!wide) return where(k >= n, high, k * width() + low);
    return where(k < n * 0.5, k * width() + low, high - (n - k) * width()).to(dtype);
  }
  /// The bin of each element, int64; `count` if it is in none.
  Value places(const Value& elements) const {
    const Value x = elements.to(wide ? DType::float64 : dtype);
    const double last = static_cast<double>(count) - 1;
    const Value quotient = wide ? x / width() - low / width() : (x - low) / width();
    Value k = max(min(quotient.unary(Op::Floor), last), 0);
    // The quotient is rounded, and edges are, too.
    for (int step = 0; step < (tight ? 4 : 1); ++step) {
      k = where(x < edge(k).to(x.dtype()), k - 1, k);
      k = where((edge(k + 1).to(x.dtype()) <= x) & (k < last), k + 1, k);
    }
    const Value inside = (x >= low) & (x <= high);
    return where(inside, k, last + 1).to(DType::int64);
  }
};

/// x as a line of floats.
Value line_of(const Call& call, const Operand& x) {
  const Value v(call, call.node(x));
  const DType own = v.dtype();
  return v.to(is_floating(own) ? api::wide_dtype(own) : DType::float64).reshape({numel(v.shape())});
}

Histogram finished(const Call& call, Tensor counts, Tensor edges, bool density) {
  if (!density) return {std::move(counts), std::move(edges)};
  const Value n = Value(call, Access::node(counts)).to(DType::float64), given(call, Access::node(edges));
  const SymInt count = n.shape()[0];
  // Differences of ascending integers are exact in uint64.
  const Value e = given.to(is_floating(given.dtype()) ? DType::float64 : DType::uint64);
  const Value widths = (e.shrink(0, 1, count + 1) - e.shrink(0, 0, count)).to(DType::float64);
  const Value total = n.reduce(Op::Sum, {0}).broadcast(n.shape());
  return {(n / widths / total).tensor(), std::move(edges)};
}

}  // namespace

Tensor bincount(const Operand& x, std::int64_t least) { return counted(x, std::nullopt, least); }
Tensor bincount(const Operand& x, const Tensor& weights, std::int64_t least) { return counted(x, weights, least); }

Histogram histogram(const Operand& x, std::int64_t bins, const HistogramOptions& options) {
  base::need<base::kHistograms>("histogram");
  const Call call("histogram", x);
  const Shape shape = call.node(x)->shape;
  const Value v = line_of(call, x);
  std::pair<double, double> range = options.range.value_or(std::pair(0.0, 1.0));
  if (!options.range && numel(shape) != 0) {
    runtime::check_may_read("histogram");
    const Tensor line = v.tensor(), ends[] = {min(line), max(line)};
    realize({line, ends[0], ends[1]}, call.origin().site);
    range = {ends[0].to(DType::float64).item<double>(), ends[1].to(DType::float64).item<double>()};
  }
  const Bins b = Bins::of(call, bins, range, v.dtype());
  const Value k(call, graph::iota({bins + 1}, v.device(), call.origin()));
  return finished(call, counts_at(b.places(v), bins, options.weights, shape), b.edge(k).tensor(), options.density);
}

Histogram histogram(const Operand& x, const Tensor& edges, const HistogramOptions& options) {
  base::need<base::kHistograms>("histogram");
  const Call call("histogram", x);
  if (edges.rank() != 1 || edges.size(0) < 2)
    throw ShapeError("histogram", fmt::format("edges {}; they are a vector of at least 2", to_string(edges.shape())));
  if (options.range) throw ArgumentError("histogram", "a range beside edges, which say it");
  const Value all(call, api::comparable(call, x, edges.dtype(), edges.device()));
  const Shape& shape = all.shape();
  const Value v = all.reshape({numel(shape)}), e(call, Access::node(edges));
  const SymInt bins = edges.size(0) - 1;
  const Tensor found = searchsorted(edges, Operand(v.tensor(), Access::site(x)), true);
  const Value low = e.shrink(0, 0, 1), high = e.shrink(0, bins, bins + 1);
  const Value inside(call, call.binary(Op::And, api::compared(call, Op::Le, low.node(), v.node()),
                                       api::compared(call, Op::Le, v.node(), high.node())));
  const Value place(call, Access::node(found));
  const Value last(call, api::position_number(call, bins, *place.node()));
  const Value in_bin = min(place - 1, last - 1);
  return finished(call, counts_at(where(inside, in_bin, last), bins, options.weights, shape), edges, options.density);
}

Tensor histogramdd(const Operand& x, const std::vector<std::int64_t>& bins,
                   const std::vector<std::pair<double, double>>& ranges) {
  base::need<base::kHistograms>("histogramdd");
  const Call call("histogramdd", x);
  const Value v(call, call.node(x));
  if (v.shape().size() != 2 || bins.empty() || bins.size() != ranges.size() ||
      !static_cast<bool>(v.shape()[1] == static_cast<std::int64_t>(bins.size()))) {
    throw ShapeError("histogramdd", fmt::format("{} with {} numbers of bins and {} ranges; it takes a matrix with a "
                                                "column for each of both",
                                                to_string(v.shape()), bins.size(), ranges.size()));
  }
  const DType own = v.dtype();
  const Value wide = v.to(is_floating(own) ? api::wide_dtype(own) : DType::float64);
  Shape shape;
  std::optional<Value> flat, inside;
  for (std::size_t d = 0; d < bins.size(); ++d) {
    const bool narrow =
        std::max(std::abs(ranges[d].first), std::abs(ranges[d].second)) <= std::numeric_limits<float>::max();
    const Bins b = Bins::of(call, bins[d], ranges[d], narrow ? wide.dtype() : DType::float64);
    const Value k = b.places(wide.shrink(1, d, d + 1).reshape({v.shape()[0]}));
    const Value fits = k < static_cast<double>(bins[d]);
    flat = flat ? flat->binary(Op::Mul, SymInt(bins[d])) + k : k;
    inside = inside ? *inside & fits : fits;
    shape.push_back(bins[d]);
  }
  const SymInt count = numel(shape);
  const Value outside(call, api::position_number(call, count, *flat->node()));
  const Tensor counts = counts_at(where(*inside, *flat, outside), count, std::nullopt, {});
  return Access::tensor(call.reshape(Access::node(counts), shape));
}

}  // namespace oriel
