#include "oriel/movement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "api/call.hpp"
#include "oriel/error.hpp"
#include "view/strided_reshape.hpp"

namespace oriel {

using api::Access;
using api::Call;
using api::whole;
using graph::NodePtr;
using graph::Op;
using graph::Scalar;

namespace {

// Where a slice starts in the source, how many elements it takes, and how far apart (negative: backwards).
struct Steps {
  std::int64_t first;
  std::int64_t count;
  std::int64_t step;
};

// Python's slice.indices. Counting uses the distance less one, so that no sum can overflow.
Steps resolve(const Slice& slice, std::int64_t n) {
  const bool back = slice.step < 0;
  const std::int64_t lowest = back ? -1 : 0;
  const std::int64_t highest = back ? n - 1 : n;
  const auto bound = [&](std::optional<std::int64_t> at, std::int64_t fallback) {
    if (!at) return fallback;
    return *at < 0 ? std::max(*at + n, lowest) : std::min(*at, highest);
  };
  const std::int64_t start = bound(slice.start, back ? n - 1 : 0);
  const std::int64_t stop = bound(slice.stop, back ? -1 : n);
  const std::int64_t distance = back ? start - stop : stop - start;
  if (distance <= 0) return {0, 0, 1};
  // step may be the most negative number, which has no opposite.
  const std::uint64_t stride =
      back ? 0 - static_cast<std::uint64_t>(slice.step) : static_cast<std::uint64_t>(slice.step);
  const auto count = static_cast<std::int64_t>((static_cast<std::uint64_t>(distance) - 1) / stride) + 1;
  return {start, count, count == 1 ? 1 : slice.step};
}

// One axis of a slice. Steps are a reshape to (count, step) where the axis reaches far enough, and a raw view
// elsewhere.
NodePtr slice_axis(const Call& call, NodePtr x, std::size_t axis, Steps s) {
  const Shape shape = x->shape;
  const std::int64_t n = shape[axis].value();
  if (s.step < 0) {
    x = graph::flip(std::move(x), {axis}, call.origin());
    s = {n - 1 - s.first, s.count, -s.step};
  }
  Ranges ranges = whole(shape);
  if (s.count == 0 || s.step == 1) {
    ranges[axis] = {s.first, s.first + s.count};
    return call.shrink(std::move(x), ranges);
  }
  // No overflow: count > 1, so step < n and count * step < 2 * n; n beyond 2^62 is only met by axes that are repeated.
  std::int64_t reach = 0;
  if (!__builtin_mul_overflow(s.count, s.step, &reach) && reach <= n - s.first) {
    ranges[axis] = {s.first, s.first + reach};
    x = call.shrink(std::move(x), ranges);
    Shape split = shape;
    split[axis] = s.count;
    split.insert(split.begin() + static_cast<std::ptrdiff_t>(axis) + 1, SymInt(s.step));
    x = call.reshape(std::move(x), split);
    Ranges first = whole(split);
    first[axis + 1] = {0, 1};
    x = call.shrink(std::move(x), first);
    Shape joined = shape;
    joined[axis] = s.count;
    return call.reshape(std::move(x), joined);
  }
  Ints strides = contiguous_strides(shape);
  View view;
  view.shape = shape;
  view.shape[axis] = s.count;
  view.offset = strides[axis] * s.first;
  view.strides = strides;
  view.strides[axis] = strides[axis] * s.step;
  if (numel(shape) == 0) view.offset = 0;
  return graph::raw_view(std::move(x), view, call.origin());
}

Ints swapped(std::size_t rank, std::size_t a, std::size_t b) {
  Ints order(rank);
  for (std::size_t d = 0; d < rank; ++d) order[d] = d;
  std::swap(order[a], order[b]);
  return order;
}

Shape filled_in(const Call& call, const Shape& from, const Shape& shape) {
  Shape out = shape;
  std::optional<std::size_t> open;
  Ints others;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] != -1) {
      if (shape[d] < 0) {
        throw ShapeError(call.operation(),
                         fmt::format("{} has a negative extent; extents are >= 0, or -1 once", to_string(shape)));
      }
      others.push_back(shape[d]);
      continue;
    }
    if (open)
      throw ShapeError(call.operation(), fmt::format("{} holds -1 twice; leave one extent open", to_string(shape)));
    open = d;
  }
  if (!open) return out;
  const std::int64_t have = numel(from).value();
  const std::int64_t rest = numel(others, std::string(call.operation()).c_str()).value();
  if (rest == 0) {
    throw ShapeError(call.operation(),
                     fmt::format("-1 in {} is ambiguous beside an extent of 0; name every extent", to_string(shape)));
  }
  if (have % rest != 0) {
    throw ShapeError(call.operation(), fmt::format("the {} elements of {} do not divide by the {} of {}", have,
                                                   to_string(from), rest, to_string(shape)));
  }
  out[*open] = have / rest;
  return out;
}

}  // namespace

Tensor reshape(const Operand& x, const Shape& shape) {
  const Call call("reshape", x);
  return call.view(x, [=](NodePtr node) {
    const Shape target = filled_in(call, node->shape, shape);
    return call.reshape(std::move(node), target);
  });
}

Tensor view(const Operand& x, const Shape& shape) {
  const Call call("view", x);
  const NodePtr node = call.node(x);
  const Shape target = filled_in(call, node->shape, shape);
  call.reshape(node, target);  // throws where the shape itself is wrong
  const Layout layout = Access::layout(*node);
  if (!detail::strided_reshape(layout, target)) {
    throw ShapeError("view",
                     fmt::format("{} cannot take the shape {} without a copy; reshape() takes it, with a second "
                                 "view on top",
                                 layout.str(), to_string(target)));
  }
  return call.view(x, [=](NodePtr now) { return call.reshape(std::move(now), target); });
}

Tensor permute(const Operand& x, const Ints& order) {
  const Call call("permute", x);
  return call.view(x, [=](NodePtr node) {
    Ints positive = order;
    for (SymInt& axis : positive) axis = call.axis(axis, node->shape.size());
    return call.permute(std::move(node), positive);
  });
}

Tensor transpose(const Operand& x, std::int64_t a, std::int64_t b) {
  const Call call("transpose", x);
  return call.view(x, [=](NodePtr node) {
    const std::size_t rank = node->shape.size();
    return call.permute(std::move(node), swapped(rank, call.axis(a, rank), call.axis(b, rank)));
  });
}

Tensor squeeze(const Operand& x, const Axes& axes) {
  const Call call("squeeze", x);
  return call.view(x, [=](NodePtr node) {
    Ints gone;
    for (const SymInt axis : call.axes(axes, node->shape.size())) {
      const SymInt extent = node->shape[static_cast<std::size_t>(axis.value())];
      if (extent == 1) {
        gone.push_back(axis);
      } else if (axes.list()) {
        throw ShapeError("squeeze", fmt::format("axis {} of {} has extent {}; only axes of extent 1 can go",
                                                axis.value(), to_string(node->shape), extent.value()));
      }
    }
    return call.drop(std::move(node), gone);
  });
}

Tensor unsqueeze(const Operand& x, std::int64_t axis) {
  const Call call("unsqueeze", x);
  return call.view(x, [=](NodePtr node) {
    Shape shape = node->shape;
    shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(call.axis(axis, shape.size() + 1)), SymInt(1));
    return call.reshape(std::move(node), shape);
  });
}

namespace {

Tensor broadcast(std::string_view name, const Operand& x, const Shape& shape) {
  const Call call(name, x);
  return call.view(x, [=](NodePtr node) {
    Shape target = shape;
    const std::size_t rank = node->shape.size();
    for (std::size_t k = 1; k <= target.size(); ++k) {
      SymInt& extent = target[target.size() - k];
      if (extent == -1 && k <= rank) extent = node->shape[rank - k];
    }
    return call.broadcast(std::move(node), target);
  });
}

}  // namespace

Tensor broadcast_to(const Operand& x, const Shape& shape) { return broadcast("broadcast_to", x, shape); }
Tensor expand(const Operand& x, const Shape& shape) { return broadcast("expand", x, shape); }

Shape broadcast_shape(const Shape& a, const Shape& b) { return graph::broadcast_shapes(a, b); }

Tensor shrink(const Operand& x, const Ranges& ranges) {
  const Call call("shrink", x);
  return call.view(x, [=](NodePtr node) { return call.shrink(std::move(node), ranges); });
}

Tensor pad(const Operand& x, const Ranges& before_after, const Operand& value) {
  const Call call("pad", x);
  const NodePtr node = call.node(x);
  if (Access::tensor(value) != nullptr) throw ArgumentError("pad", "the value is a tensor; give a number");
  if (api::common_dtype({&x, &value}) != node->dtype && Access::value(value) != 0) {
    throw DTypeError("pad", fmt::format("the value {} does not fit {}; cast the tensor first", Access::text(value),
                                        name(node->dtype)));
  }
  const Scalar number = is_floating(node->dtype) || Access::value(value) != 0
                            ? Access::number(value, node->dtype, "pad")
                            : Scalar::of_int(node->dtype, 0);
  return Access::tensor(call.pad(node, before_after, number));
}

Tensor flip(const Operand& x, const Axes& axes) {
  const Call call("flip", x);
  return call.view(x, [=](NodePtr node) {
    const Ints list = call.axes(axes, node->shape.size());
    return graph::flip(std::move(node), list, call.origin());
  });
}

Tensor slice(const Operand& x, std::span<const Slice> slices) {
  const Call call("slice", x);
  return call.view(x, [call, list = std::vector<Slice>(slices.begin(), slices.end())](NodePtr node) {
    if (list.size() > node->shape.size()) {
      throw ShapeError("slice", fmt::format("{} slices for the {} axes of {}", list.size(), node->shape.size(),
                                            to_string(node->shape)));
    }
    for (std::size_t d = 0; d < list.size(); ++d) {
      if (list[d].step == 0) throw ArgumentError("slice", fmt::format("the step of axis {} is 0; give 1, -1, ...", d));
      const std::int64_t extent = node->shape[d].value();
      node = slice_axis(call, std::move(node), d, resolve(list[d], extent));
    }
    return node;
  });
}

Tensor slice(const Operand& x, std::initializer_list<Slice> slices) {
  return slice(x, std::span<const Slice>(slices.begin(), slices.size()));
}

Tensor select(const Operand& x, std::int64_t axis, std::int64_t position) {
  const Call call("select", x);
  return call.view(x, [=](NodePtr node) {
    const std::size_t d = call.axis(axis, node->shape.size());
    const std::int64_t n = node->shape[d].value();
    const std::int64_t at = position < 0 ? position + n : position;
    if (at < 0 || at >= n) {
      throw ShapeError("select", fmt::format("position {} on axis {} of {}; give one of {} to {}", position, d,
                                             to_string(node->shape), -n, n - 1));
    }
    Ranges ranges = whole(node->shape);
    ranges[d] = {at, at + 1};
    return call.drop(call.shrink(std::move(node), ranges), {d});
  });
}

Tensor repeat(const Operand& x, const Ints& counts) {
  const Call call("repeat", x);
  NodePtr node = call.node(x);
  const Shape shape = node->shape;
  if (counts.size() != shape.size()) {
    throw ShapeError("repeat", fmt::format("{} counts for the {} axes of {}; give one an axis", counts.size(),
                                           shape.size(), to_string(shape)));
  }
  // Each axis n becomes (count, n), expanded and joined again.
  Shape apart;
  Shape grown;
  Shape joined;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (counts[d] < 0) throw ShapeError("repeat", fmt::format("counts {} must be >= 0", to_string(counts)));
    std::int64_t extent = 0;
    if (__builtin_mul_overflow(counts[d].value(), shape[d].value(), &extent)) {
      throw OverflowError("repeat",
                          fmt::format("{} times axis {} of {} passes 2^63-1", counts[d].value(), d, to_string(shape)));
    }
    if (counts[d] != 1) {
      apart.push_back(1);
      grown.push_back(counts[d]);
    }
    apart.push_back(shape[d]);
    grown.push_back(shape[d]);
    joined.push_back(extent);
  }
  node = call.reshape(std::move(node), apart);
  node = graph::expand(std::move(node), grown, call.origin());
  return Access::tensor(call.reshape(std::move(node), joined));
}

Tensor roll(const Operand& x, std::int64_t shift, std::int64_t axis) {
  const Call call("roll", x);
  NodePtr node = call.node(x);
  const std::size_t d = call.axis(axis, node->shape.size());
  const SymInt n = node->shape[d];
  if (n == 0 || SymInt(shift) % n == 0) return Access::tensor(std::move(node));
  // Twice in a row, and a window of n from where the result's first element stands.
  const SymInt start = n - SymInt(shift) % n;
  const Shape shape = node->shape;
  Shape twice = shape;
  twice.insert(twice.begin() + static_cast<std::ptrdiff_t>(d), SymInt(1));
  node = call.reshape(std::move(node), twice);
  twice[d] = 2;
  node = graph::expand(std::move(node), twice, call.origin());
  Shape joined = shape;
  joined[d] = n * 2;
  node = call.reshape(std::move(node), joined);
  Ranges window = whole(joined);
  window[d] = {start, start + n};
  return Access::tensor(call.shrink(std::move(node), window));
}

namespace {

void check_some(std::string_view name, std::size_t count) {
  if (count == 0) throw ArgumentError(name, "no tensors came; give at least one");
}

NodePtr joined(const Call& call, std::span<const NodePtr> nodes, std::size_t axis) {
  SymInt total = 0;
  for (const NodePtr& node : nodes) total += node->shape[axis];
  NodePtr out;
  SymInt before = 0;
  for (const NodePtr& node : nodes) {
    const SymInt extent = node->shape[axis];
    if (extent == 0 && total != 0) continue;
    Ranges around(node->shape.size(), Range{0, 0});
    around[axis] = {before, total - before - extent};
    NodePtr placed = graph::pad(node, around, call.origin());
    out = out ? call.where(call.inside(node->shape, node->device, around), std::move(placed), std::move(out))
              : std::move(placed);
    before += extent;
    if (total == 0) break;
  }
  return out;
}

}  // namespace

Tensor concat(std::span<const Tensor> tensors, std::int64_t axis, Site site) {
  const Call call("concat", site);
  check_some("concat", tensors.size());
  const Shape& first = tensors[0].shape();
  const std::size_t d = call.axis(axis, first.size());
  DType dtype = tensors[0].dtype();
  for (const Tensor& t : tensors) {
    dtype = promote(dtype, t.dtype());
    bool fits = t.rank() == first.size();
    for (std::size_t k = 0; fits && k < first.size(); ++k) fits = k == d || t.shape()[k] == first[k];
    if (!fits) {
      throw ShapeError("concat", fmt::format("{} and {} differ beside axis {}; the other extents must agree",
                                             to_string(first), to_string(t.shape()), d));
    }
  }
  std::vector<NodePtr> nodes;
  for (const Tensor& t : tensors) nodes.push_back(call.cast(Access::node(t), dtype));
  return Access::tensor(joined(call, nodes, d));
}

Tensor concat(std::initializer_list<Tensor> tensors, std::int64_t axis, Site site) {
  return concat(std::span<const Tensor>(tensors.begin(), tensors.size()), axis, site);
}

Tensor stack(std::span<const Tensor> tensors, std::int64_t axis, Site site) {
  const Call call("stack", site);
  check_some("stack", tensors.size());
  const Shape& first = tensors[0].shape();
  const std::size_t d = call.axis(axis, first.size() + 1);
  DType dtype = tensors[0].dtype();
  for (const Tensor& t : tensors) {
    dtype = promote(dtype, t.dtype());
    if (t.shape() != first) {
      throw ShapeError("stack",
                       fmt::format("shapes {} and {} differ; they must agree", to_string(first), to_string(t.shape())));
    }
  }
  Shape shape = first;
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(d), SymInt(1));
  std::vector<NodePtr> nodes;
  for (const Tensor& t : tensors) nodes.push_back(call.reshape(call.cast(Access::node(t), dtype), shape));
  return Access::tensor(joined(call, nodes, d));
}

Tensor stack(std::initializer_list<Tensor> tensors, std::int64_t axis, Site site) {
  return stack(std::span<const Tensor>(tensors.begin(), tensors.size()), axis, site);
}

Tensor diagonal(const Operand& x, std::int64_t offset, std::int64_t a, std::int64_t b) {
  const Call call("diagonal", x);
  return call.view(x, [=](NodePtr node) {
    const Shape shape = node->shape;
    const std::size_t row = call.axis(a, shape.size());
    const std::size_t column = call.axis(b, shape.size());
    if (row == column) {
      throw ShapeError("diagonal", fmt::format("axes {} and {} of {} are the same; name two", a, b, to_string(shape)));
    }
    // Positions along both axes where the diagonal starts; past the end where there is none.
    const SymInt down = offset < 0 ? -SymInt(offset) : SymInt(0);
    const SymInt right = offset > 0 ? SymInt(offset) : SymInt(0);
    const std::int64_t length =
        std::max<std::int64_t>(0, std::min((shape[row] - down).value(), (shape[column] - right).value()));
    const Ints strides = contiguous_strides(shape);
    View view;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      if (d == row || d == column) continue;
      view.shape.push_back(shape[d]);
      view.strides.push_back(strides[d]);
    }
    view.shape.push_back(length);
    view.strides.push_back(strides[row] + strides[column]);
    if (numel(view.shape) != 0) view.offset = down * strides[row] + right * strides[column];
    return graph::raw_view(std::move(node), view, call.origin());
  });
}

Tensor unfold(const Operand& x, std::int64_t axis, std::int64_t size, std::int64_t step) {
  const Call call("unfold", x);
  return call.view(x, [=](NodePtr node) {
    const Shape shape = node->shape;
    const std::size_t d = call.axis(axis, shape.size());
    if (size < 1 || size > shape[d] || step < 1) {
      throw ShapeError("unfold",
                       fmt::format("size {} and step {} on axis {} of {}; give a size in [1, {}] and a step >= 1", size,
                                   step, d, to_string(shape), shape[d].value()));
    }
    const Ints strides = contiguous_strides(shape);
    View view;
    view.shape = shape;
    view.strides = strides;
    const SymInt windows = (shape[d] - size) / step + 1;
    view.shape[d] = windows;
    view.strides[d] = windows > 1 ? strides[d] * step : SymInt(0);
    view.shape.push_back(size);
    view.strides.push_back(strides[d]);
    return graph::raw_view(std::move(node), view, call.origin());
  });
}

}  // namespace oriel
