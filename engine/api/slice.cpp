#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <optional>

#include "formula/call.hpp"
#include "formula/gathering.hpp"
#include "oriel/error.hpp"
#include "oriel/movement.hpp"
#include "sym/decide.hpp"

namespace oriel {

using api::Call;
using api::whole;
using graph::NodePtr;

namespace {

// The source's strides, with that of one axis multiplied by `step`.
graph::AxisStrides strides_by(std::size_t rank, std::size_t axis, std::int64_t step) {
  graph::AxisStrides strides(rank);
  for (std::size_t d = 0; d < rank; ++d) strides[d].terms.push_back({d, d == axis ? step : 1});
  return strides;
}

// The start of a slice in the source, its number of elements, and their distance (negative: backwards).
struct Steps {
  SymInt first;
  SymInt count;
  std::int64_t step;
};

// The end of a slice for every size. Each part is left out where it is known not to matter.
SymInt data_dependent_bound(SymInt at, SymInt n, SymInt lowest, SymInt highest) {
  const std::optional<bool> negative = sym::known(at < 0);
  const SymInt from_start = sym_min(at, highest), from_end = sym_max(at + n, lowest);
  if (!negative) return sym_select(at < 0, from_end, from_start);
  if (*negative) return sym::known(at + n >= lowest).value_or(false) ? at + n : from_end;
  return sym::known(at <= highest).value_or(false) ? at : from_start;
}

// Python's slice.indices. Counts with the distance minus one, so that no sum can overflow.
Steps resolve(const Slice& slice, SymInt n) {
  const bool back = slice.step < 0;
  const SymInt lowest = back ? -1 : 0;
  const SymInt highest = back ? n - 1 : n;
  const auto bound = [&](SliceEnd at, SymInt fallback) -> SymInt {
    if (!at) return fallback;
    if (sym::depends_on_data(*at) || sym::depends_on_data(n)) return data_dependent_bound(*at, n, lowest, highest);
    if (*at < 0) return *at + n < lowest ? lowest : *at + n;
    return *at > highest ? highest : *at;
  };
  const SymInt start = bound(slice.start, back ? n - 1 : SymInt(0));
  const SymInt stop = bound(slice.stop, back ? SymInt(-1) : n);
  const SymInt distance = back ? start - stop : stop - start;
  // A count that is 0 or more is right as it is, also where it depends on data.
  if (slice.step == 1 && distance.is_symbolic() && sym::known(distance >= 0).value_or(false))
    return {start, distance, 1};
  if (sym::depends_on_data(distance)) {
    const SymInt count = sym_max(0, distance);
    if (slice.step == 1) return {start, count, 1};
    // A longer step than every size has one element, as this one has.
    const std::int64_t step = std::max(slice.step, -std::numeric_limits<std::int64_t>::max());
    return {start, (count + (std::abs(step) - 1)) / std::abs(step), step};
  }
  if (distance <= 0) return {0, 0, 1};
  if (slice.step == 1) return {start, distance, 1};
  if (distance.is_symbolic() && slice.step != std::numeric_limits<std::int64_t>::min()) {
    const SymInt count = (distance - 1) / std::abs(slice.step) + 1;
    return {start, count, count == 1 ? 1 : slice.step};
  }
  // step may be the most negative integer, whose negation overflows.
  const std::uint64_t stride =
      back ? 0 - static_cast<std::uint64_t>(slice.step) : static_cast<std::uint64_t>(slice.step);
  const auto count = static_cast<std::int64_t>((static_cast<std::uint64_t>(distance.value()) - 1) / stride) + 1;
  return {start, count, count == 1 ? 1 : slice.step};
}

/// A view of x. `asks`: that it reads inside is checked, with a guard for symbols. The views here read inside for every
/// size, so nothing is asked where one depends on data.
NodePtr viewed(const Call& call, NodePtr x, const View& view, bool asks) {
  return asks ? graph::raw_view(std::move(x), view, call.origin())
              : graph::view_inside(std::move(x), view, call.origin());
}

// Slices one axis. A step becomes a reshape to (count, step) if the axis is long enough, else a raw view. `asked` is
// the user's step, which determines the stride even if the slice has one element.
NodePtr slice_axis(const Call& call, NodePtr x, std::size_t axis, Steps s, std::int64_t asked) {
  const Shape shape = x->shape;
  const SymInt n = shape[axis];
  const std::size_t rank = shape.size();
  const auto stepped = [&](NodePtr moved, const NodePtr& source, std::int64_t step) {
    return graph::with_derived_strides(std::move(moved), source, strides_by(rank, axis, step));
  };
  if (s.step < 0) {
    x = graph::flip(std::move(x), {axis}, call.origin());
    s = {n - 1 - s.first, s.count, -s.step};
  }
  Ranges ranges = whole(shape);
  if (s.step == 1 || sym::or_false(s.count == 0)) {
    ranges[axis] = {s.first, s.first + s.count};
    x = call.shrink(std::move(x), ranges);
    return asked > 1 && sym::or_false(s.count == 1)
               ? graph::with_unit_axis_strides(std::move(x), strides_by(rank, axis, asked), call.origin())
               : x;
  }
  // count > 1, so step < n and count * step < 2 * n, which only repeated axes of more than 2^62 elements exceed.
  const bool fits = s.count.is_symbolic() || s.count <= std::numeric_limits<std::int64_t>::max() / s.step;
  if (const SymInt reach = fits ? s.count * s.step : SymInt(0); fits && sym::or_false(reach <= n - s.first)) {
    ranges[axis] = {s.first, s.first + reach};
    x = call.shrink(std::move(x), ranges);
    Shape split = shape;
    split[axis] = s.count;
    split.insert(split.begin() + static_cast<std::ptrdiff_t>(axis) + 1, SymInt(s.step));
    graph::AxisStrides apart = strides_by(rank, axis, s.step);
    apart.insert(apart.begin() + static_cast<std::ptrdiff_t>(axis) + 1, {0, {{axis, 1}}});
    NodePtr source = x;
    x = graph::with_derived_strides(call.reshape(std::move(x), split), source, std::move(apart));
    Ranges first = whole(split);
    first[axis + 1] = {0, 1};
    x = call.shrink(std::move(x), first);
    return call.drop(std::move(x), {axis + 1});
  }
  Ints strides = contiguous_strides(shape);
  View view;
  view.shape = shape;
  view.shape[axis] = s.count;
  view.offset = strides[axis] * s.first;
  view.strides = strides;
  view.strides[axis] = strides[axis] * s.step;
  if (sym::or_false(numel(shape) == 0)) view.offset = 0;
  const NodePtr source = x;
  const bool asks = !sym::depends_on_data(s.count) && !sym::depends_on_data(numel(shape));
  return stepped(viewed(call, std::move(x), view, asks), source, s.step);
}

}  // namespace

Tensor slice(const Operand& x, ListOf<Slice> slices) {
  const Call call("slice", x);
  return call.view(x, [call, list = std::vector<Slice>(slices.begin(), slices.end())](NodePtr node) {
    if (list.size() > node->shape.size()) {
      throw ShapeError("slice", fmt::format("{} slices for the {} axes of {}", list.size(), node->shape.size(),
                                            to_string(node->shape)));
    }
    for (std::size_t d = 0; d < list.size(); ++d) {
      if (list[d].step == 0) throw ArgumentError("slice", fmt::format("the step of axis {} is 0; give 1, -1, ...", d));
      const SymInt extent = node->shape[d];
      node = slice_axis(call, std::move(node), d, resolve(list[d], extent), list[d].step);
    }
    return node;
  });
}

Tensor select(const Operand& x, std::int64_t axis, SymInt position) {
  const Call call("select", x);
  return call.view(x, [=](NodePtr node) {
    const std::size_t d = call.axis(axis, node->shape.size());
    const SymInt n = node->shape[d];
    const SymInt at = sym::depends_on_data(position) ? sym_select(position < 0, position + n, position)
                      : position < 0                 ? position + n
                                                     : position;
    if (!sym::required(at >= 0, "select") || !sym::required(at < n, "select")) {
      throw ShapeError(
          "select",
          fmt::format("position {} on axis {} of {}; {}", to_string(position), d, to_string(node->shape),
                      n.is_symbolic() || n != 0 ? fmt::format("give one of {} to {}", to_string(-n), to_string(n - 1))
                                                : "it has none"));
    }
    Ranges ranges = whole(node->shape);
    ranges[d] = {at, at + 1};
    return call.drop(call.shrink(std::move(node), ranges), {d});
  });
}

Tensor diagonal(const Operand& x, std::int64_t offset, std::int64_t a, std::int64_t b) {
  const Call call("diagonal", x);
  return call.view(x, [=](NodePtr node) {
    const Shape shape = node->shape;
    if (shape.size() < 2) {
      throw ShapeError("diagonal", fmt::format("{} has fewer than the two axes of a matrix", to_string(shape)));
    }
    const std::size_t row = call.axis(a, shape.size());
    const std::size_t column = call.axis(b, shape.size());
    if (row == column) {
      throw ShapeError("diagonal", fmt::format("axes {} and {} of {} are the same; name two", a, b, to_string(shape)));
    }
    // The positions along both axes at which the diagonal starts; past the end if the diagonal is empty.
    const std::int64_t up = -std::max(offset, -std::numeric_limits<std::int64_t>::max());
    const SymInt down = up > 0 ? sym_min(up, shape[row]) : SymInt(0);
    const SymInt right = offset > 0 ? sym_min(offset, shape[column]) : SymInt(0);
    const SymInt length = sym_max(0, sym_min(shape[row] - down, shape[column] - right));
    const Ints strides = contiguous_strides(shape);
    View view;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      if (d == row || d == column) continue;
      view.shape.push_back(shape[d]);
      view.strides.push_back(strides[d]);
    }
    view.shape.push_back(length);
    view.strides.push_back(strides[row] + strides[column]);
    // Where an extent depends on data, the view may have no elements, and then its offset does not matter.
    const bool asks = !sym::depends_on_data(numel(shape));
    if (!asks || numel(view.shape) != 0) view.offset = down * strides[row] + right * strides[column];
    graph::AxisStrides kept;
    for (std::size_t d = 0; d < shape.size(); ++d)
      if (d != row && d != column) kept.push_back({0, {{d, 1}}});
    kept.push_back({0, {{row, 1}, {column, 1}}});
    const NodePtr source = node;
    return graph::with_derived_strides(viewed(call, std::move(node), view, asks), source, std::move(kept));
  });
}

Tensor unfold(const Operand& x, std::int64_t axis, std::int64_t size, std::int64_t step) {
  const Call call("unfold", x);
  return call.view(x, [=](NodePtr node) {
    const Shape shape = node->shape;
    const std::size_t d = call.axis(axis, shape.size());
    if (size < 1 || !sym::required(shape[d] >= size, "unfold") || step < 1) {
      throw ShapeError("unfold",
                       fmt::format("size {} and step {} on axis {} of {}; give a size in [1, {}] and a step >= 1", size,
                                   step, d, to_string(shape), to_string(shape[d])));
    }
    const Ints strides = contiguous_strides(shape);
    View view;
    view.shape = shape;
    view.strides = strides;
    const SymInt windows = (shape[d] - size) / step + 1;
    view.shape[d] = windows;
    const bool asks = !sym::depends_on_data(numel(shape));
    const bool one = sym::or_false(windows <= 1);
    view.strides[d] = one ? SymInt(0) : strides[d] * step;
    view.shape.push_back(size);
    view.strides.push_back(strides[d]);
    graph::AxisStrides kept = strides_by(shape.size(), d, step);
    kept.push_back({0, {{d, 1}}});
    const NodePtr source = node;
    return graph::with_derived_strides(viewed(call, std::move(node), view, asks), source, std::move(kept));
  });
}

Tensor as_strided(const Operand& x, const View& view) {
  const Call call("as_strided", x);
  try {
    View::make(view.shape, view.strides, view.offset, view.mask);
  } catch (const ShapeError& error) {
    throw ShapeError("as_strided", error.reason());
  }
  return call.view(x, [=](NodePtr node) { return graph::raw_view(std::move(node), view, call.origin()); });
}

Tensor take(const Operand& x, const Tensor& index, std::int64_t axis, Bounds bounds) {
  return api::taken(Call("take", x), x, index, axis, bounds);
}

Tensor gather(const Operand& x, const Tensor& index, std::int64_t axis, Bounds bounds) {
  const Call call("gather", x);
  return api::gathered(call, call.node(x), index, axis, bounds);
}

}  // namespace oriel
