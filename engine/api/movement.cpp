#include "oriel/movement.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "formula/call.hpp"
#include "graph/movements.hpp"
#include "oriel/error.hpp"
#include "sym/decide.hpp"
#include "view/layouts/strided_reshape.hpp"

namespace oriel {

using api::Access;
using api::Call;
using api::whole;
using graph::NodePtr;
using graph::Scalar;

namespace {

Ints swapped(std::size_t rank, std::size_t a, std::size_t b) {
  Ints order(rank);
  for (std::size_t d = 0; d < rank; ++d) order[d] = d;
  std::swap(order[a], order[b]);
  return order;
}

graph::AxisStrides same_strides(std::size_t rank) {
  graph::AxisStrides strides(rank);
  for (std::size_t d = 0; d < rank; ++d) strides[d].terms.push_back({d, 1});
  return strides;
}

Shape filled_in(const Call& call, const Shape& from, const Shape& shape) {
  const auto [open, refusal] = detail::open_extent(shape);
  if (refusal == detail::ReshapeRefusal::negative_size)
    throw ShapeError(call.operation(),
                     fmt::format("{} has a negative extent; extents are >= 0, or -1 once", to_string(shape)));
  if (refusal)
    throw ShapeError(call.operation(), fmt::format("{} holds -1 twice; leave one extent open", to_string(shape)));
  if (!open) return shape;
  Shape out = shape;
  Ints others = shape;
  others.erase(others.begin() + *open);
  const SymInt have = numel(from);
  const SymInt rest = numel(others, std::string(call.operation()).c_str());
  if (!sym::required(rest != 0, call.operation())) {
    throw ShapeError(call.operation(),
                     fmt::format("-1 in {} is ambiguous beside an extent of 0; name every extent", to_string(shape)));
  }
  if (!sym::required(have % rest == 0, call.operation())) {
    throw ShapeError(call.operation(),
                     fmt::format("the {} elements of {} do not divide by the {} of {}", to_string(have),
                                 to_string(from), to_string(rest), to_string(shape)));
  }
  out[*open] = have / rest;
  return out;
}

// As in PyTorch, a reshape to the same shape recomputes the strides of axes of extent 1.
NodePtr reshaped(const Call& call, NodePtr x, const Shape& shape) {
  const bool anew = x->layout_class != graph::LayoutClass::RowMajor && graph::known_same(x->shape, shape) &&
                    std::ranges::any_of(shape, [](SymInt n) -> bool { return sym::or_false(n == 1); });
  return anew ? graph::with_unit_axis_strides(std::move(x), {}, call.origin()) : call.reshape(std::move(x), shape);
}

}  // namespace

std::size_t detail::rank_of(const Operand& x) {
  const Tensor* const tensor = Access::tensor(x);
  return tensor == nullptr ? 0 : tensor->rank();
}

Tensor reshape(const Operand& x, const Shape& shape) {
  const Call call("reshape", x);
  return call.view(x, [=](NodePtr node) {
    const Shape target = filled_in(call, node->shape, shape);
    return reshaped(call, std::move(node), target);
  });
}

Tensor view(const Operand& x, const Shape& shape) {
  const Call call("view", x);
  const NodePtr node = call.node(x);
  const Shape target = filled_in(call, node->shape, shape);
  call.reshape(node, target);  // throws if the shape itself is wrong
  const Layout layout = Access::layout(*node);
  if (!detail::strided_reshape(layout, target)) {
    throw ShapeError("view",
                     fmt::format("{} cannot take the shape {} without a copy; reshape() takes it, with a second "
                                 "view on top",
                                 layout.str(), to_string(target)));
  }
  return call.view(x, [=](NodePtr now) { return reshaped(call, std::move(now), target); });
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
    if (rank < 2 && a == -2 && b == -1) {
      throw ShapeError("transpose", fmt::format("{} has fewer than the two axes that are exchanged; name axes that it "
                                                "has, or reshape it to a matrix first",
                                                to_string(node->shape)));
    }
    return call.permute(std::move(node), swapped(rank, call.axis(a, rank), call.axis(b, rank)));
  });
}

Tensor squeeze(const Operand& x, const Axes& axes) {
  const Call call("squeeze", x);
  return call.view(x, [=](NodePtr node) {
    Ints gone;
    for (const SymInt axis : call.axes(axes, node->shape.size())) {
      const SymInt extent = node->shape[static_cast<std::size_t>(axis.value())];
      // Without a list the rank of the result would depend on data, which is an error.
      if (axes.list() ? sym::required(extent == 1, "squeeze") : static_cast<bool>(extent == 1)) {
        gone.push_back(axis);
      } else if (axes.list()) {
        throw ShapeError("squeeze", fmt::format("axis {} of {} has extent {}; only axes of extent 1 can go",
                                                axis.value(), to_string(node->shape), to_string(extent)));
      }
    }
    return call.drop(std::move(node), gone);
  });
}

Tensor unsqueeze(const Operand& x, std::int64_t axis) {
  const Call call("unsqueeze", x);
  return call.view(x, [=](NodePtr node) {
    Shape shape = node->shape;
    const std::size_t at = api::new_axis(call, axis, shape.size());
    shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(at), SymInt(1));
    // As in PyTorch, the stride of the new axis is extent times stride of the axis after it.
    graph::AxisStrides strides = same_strides(node->shape.size());
    const auto place = strides.begin() + static_cast<std::ptrdiff_t>(at);
    if (at == node->shape.size())
      strides.insert(place, {1, {}});
    else
      strides.insert(place, {0, {{at, node->shape[at]}}});
    const NodePtr source = node;
    return graph::with_derived_strides(call.reshape(std::move(node), shape), source, std::move(strides));
  });
}

namespace {

// The strides of PyTorch's expand: a new axis of extent 1 has extent times stride of the axis after it; a repeated axis
// has stride 0.
NodePtr expanded(const Call& call, NodePtr x, const Shape& shape) {
  const std::size_t rank = x->shape.size();
  if (graph::known_same(x->shape, shape) || rank > shape.size()) return call.broadcast(std::move(x), shape);
  const std::size_t ahead = shape.size() - rank;
  Shape padded(shape.size(), SymInt(1));
  std::copy(x->shape.begin(), x->shape.end(), padded.begin() + static_cast<std::ptrdiff_t>(ahead));
  // The strides of x and then of the result, from the last axis: a new axis depends on the stride of the axis after it.
  graph::AxisStrides of_x(shape.size());
  graph::AxisStrides of_padded = same_strides(shape.size());
  for (std::size_t d = shape.size(); d-- > 0;) {
    // An axis of extent 1 is taken to repeat if the extent that it gets depends on data.
    const bool repeats = sym::hint(padded[d] - shape[d]) ? static_cast<bool>(padded[d] != shape[d])
                                                         : sym::known(padded[d] == 1).value_or(false);
    if (d >= ahead)
      of_x[d] = {0, {{d - ahead, 1}}};
    else if (d + 1 == shape.size())
      of_x[d] = {0, {}};  // of a tensor without axes all strides are 0
    else if (d + 1 >= ahead)
      of_x[d] = {0, {{d + 1 - ahead, padded[d + 1]}}};
    else
      of_x[d] = of_x[d + 1];
    if (repeats || (d < ahead && d + 1 < shape.size() && of_padded[d + 1].terms.empty())) of_padded[d] = {0, {}};
  }
  if (rank == 0) {  // a reshape may end at an axis of extent 1 below, which has another stride
    x = graph::with_unit_axis_strides(call.reshape(std::move(x), padded), std::move(of_x), call.origin());
  } else if (ahead != 0) {
    const NodePtr source = x;
    x = graph::with_derived_strides(call.reshape(std::move(x), padded), source, std::move(of_x));
  }
  const NodePtr source = x;
  NodePtr out = call.broadcast(std::move(x), shape);  // throws if the shapes do not fit
  return out == source ? out : graph::with_derived_strides(std::move(out), source, std::move(of_padded));
}

Tensor broadcast(std::string_view name, const Operand& x, const Shape& shape) {
  const Call call(name, x);
  return call.view(x, [=](NodePtr node) {
    Shape target = shape;
    const std::size_t rank = node->shape.size();
    for (std::size_t k = 1; k <= target.size(); ++k) {
      SymInt& extent = target[target.size() - k];
      if (sym::state_size(extent) || extent != -1) continue;
      if (k > rank) {
        throw ShapeError(call.operation(), fmt::format("-1 in {} stands for a new axis of {}, which has no extent to "
                                                       "keep; name it",
                                                       to_string(shape), to_string(node->shape)));
      }
      extent = node->shape[rank - k];
    }
    return expanded(call, std::move(node), target);
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

Tensor shrink(const Operand& x, const Ranges& ranges, const Axes& axes) {
  const Call call("shrink", x);
  return call.view(x, [=](NodePtr node) {
    const std::size_t rank = node->shape.size();
    const Ints list = axes.list() ? *axes.list() : call.axes(axes, rank);
    if (list.size() != ranges.size()) {
      throw ShapeError("shrink", fmt::format("{} ranges for {} axes; give one range for each axis that is named",
                                             ranges.size(), list.size()));
    }
    call.axes(Axes(list), rank);  // throws for an axis named twice
    Ranges all = whole(node->shape);
    for (std::size_t k = 0; k < list.size(); ++k) all[call.axis(list[k], rank)] = ranges[k];
    return call.shrink(std::move(node), all);
  });
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

Tensor pad(const Operand& x, const AxisEnds& before_after, const Operand& value) {
  return pad(x, Ranges{before_after.range}, value);
}

Tensor every(const Operand& x, const Ints& steps) {
  const Call call("every", x);
  return call.view(x, [=](NodePtr node) {
    return graph::move(std::move(node), {graph::Op::Every, steps, &steps}, call.origin());
  });
}

Tensor flip(const Operand& x, const Axes& axes) {
  const Call call("flip", x);
  return call.view(x, [=](NodePtr node) {
    const Ints list = call.axes(axes, node->shape.size());
    return graph::flip(std::move(node), list, call.origin());
  });
}

}  // namespace oriel
