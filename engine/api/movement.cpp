#include "oriel/movement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

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

}  // namespace oriel
