// Writing and combining at positions that are data.
#include "oriel/scatter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "formula/gathering.hpp"
#include "formula/value.hpp"
#include "functions/scatter_parts.hpp"
#include "oriel/error.hpp"
#include "oriel/movement.hpp"
#include "oriel/ops.hpp"
#include "oriel/reduce.hpp"
#include "sym/decide.hpp"

namespace oriel {

using api::Access;
using api::Call;
using api::NodePtr;
using api::Op;
using api::Scattered;
using api::Value;

namespace {

/// A tensor, and what is written into it.
struct Target {
  const Call& call;
  NodePtr source;
  Scattered at;
  NodePtr values;  // of shape at.lines(), or one number without axes; in the dtype of the source

  /// How many positions name each entry, along the entries alone.
  NodePtr counts() const {
    const Shape shape = at.each ? at.shape : Shape{at.shape[at.axis]};
    const Scattered entries{call, shape, at.each ? at.axis : 0, at.device, at.index, at.each, Bounds::zero};
    return entries.combine(Op::ScatterSum,
                           graph::constant(graph::Scalar::of_int(DType::int64, 1), {}, at.device, call.origin()));
  }
  /// Is any position that of the entry?
  NodePtr named() const {
    const NodePtr last = at.last();
    return at.along(call.binary(Op::Le, api::position_number(call, 0, *last), last), source->shape);
  }
};

/// One position for each line: `values` is broadcast to the shape of take().
Target lines_of(const Call& call, const Operand& x, const Tensor& index, const Operand& values, std::int64_t axis,
                Bounds bounds) {
  NodePtr source = call.node(x);
  const std::size_t at = call.axis(axis, source->shape.size());
  bounds = api::checked_for(call, source->shape, Access::node(index), {source->shape[at], at}, bounds);
  NodePtr positions = api::raw_positions(call, index);
  NodePtr given = api::written_value(call, values, source->dtype, source->device);
  if (!given->shape.empty()) {
    const auto cut = static_cast<std::ptrdiff_t>(at);
    Shape full(source->shape.begin(), source->shape.begin() + cut), flat = full;
    full.insert(full.end(), positions->shape.begin(), positions->shape.end());
    flat.push_back(numel(positions->shape));
    for (Shape* shape : {&full, &flat})
      shape->insert(shape->end(), source->shape.begin() + cut + 1, source->shape.end());
    given = call.reshape(call.broadcast(std::move(given), full), flat);
  }
  positions = call.reshape(positions, {numel(positions->shape)});
  const Shape shape = source->shape;
  const Device device = source->device;
  return {call, std::move(source), {call, shape, at, device, std::move(positions), false, bounds}, std::move(given)};
}

/// x cut or filled up to `shape` on all axes but one.
NodePtr fitted(const Call& call, const NodePtr& x, const Shape& shape, std::size_t axis, const graph::Scalar& filling) {
  Ranges around(shape.size(), Range{0, 0});
  bool same = true;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (d == axis || sym::known(x->shape[d] == shape[d]).value_or(false)) continue;
    around[d] = {0, shape[d] - x->shape[d]};
    same = false;
  }
  return same ? x : call.pad(x, around, filling);
}

/// One position for each element.
Target elements_of(const Call& call, const Operand& x, const Tensor& index, const Operand& values, std::int64_t axis,
                   Bounds bounds) {
  NodePtr source = call.node(x);
  const Shape shape = source->shape;
  const std::size_t at = call.axis(axis, shape.size());
  bounds = api::checked_now(call, Access::node(index), {shape[at], at}, bounds);
  NodePtr positions = api::raw_positions(call, index);
  const Shape& own = positions->shape;
  bool fits = own.size() == shape.size();
  for (std::size_t d = 0; fits && d < own.size(); ++d)
    fits = d == at || sym::required(own[d] <= shape[d], call.operation());
  if (!fits) {
    throw ShapeError(call.operation(), fmt::format("an index {} does not fit {}: it has the same rank and, but for "
                                                   "axis {}, no larger extents",
                                                   to_string(own), to_string(shape), at));
  }
  NodePtr given = api::written_value(call, values, source->dtype, source->device);
  if (!given->shape.empty()) {
    fits = given->shape.size() == own.size();
    Ranges used = api::whole(own);
    for (std::size_t d = 0; fits && d < own.size(); ++d)
      fits = sym::required(own[d] <= given->shape[d], call.operation());
    if (!fits) {
      throw ShapeError(call.operation(), fmt::format("values {} do not fit an index {}: they are a number, or have no "
                                                     "smaller extents",
                                                     to_string(given->shape), to_string(own)));
    }
    given = fitted(call, call.shrink(std::move(given), used), shape, at, graph::Scalar::of_int(source->dtype, 0));
  }
  // What is filled up lies outside, so what is to be checked is checked before.
  const graph::Scalar outside = graph::Scalar::of_int(DType::int64, std::numeric_limits<std::int64_t>::max());
  NodePtr filled = fitted(call, positions, shape, at, outside);
  if (bounds == Bounds::checked && filled != positions) {
    filled = fitted(call, api::positions(call, index, {shape[at], at}, bounds), shape, at, outside);
    bounds = Bounds::zero;
  }
  const Device device = source->device;
  return {call,
          std::move(source),
          {call, shape, at, device, std::move(filled), shape.size() > 1, bounds},
          std::move(given)};
}

Tensor replaced(const Target& t) {
  const Scattered& at = t.at;
  const NodePtr last = at.last();
  NodePtr named = at.along(t.call.binary(Op::Le, api::position_number(t.call, 0, *last), last), t.source->shape);
  const api::IndexedAxis axis{at.shape[at.axis], at.axis};
  named = api::and_checked(t.call, std::move(named), at.index, axis, at.bounds);
  const NodePtr values =
      t.values->shape.empty() ? t.call.broadcast(t.values, t.source->shape) : at.last_values(t.values, last);
  NodePtr out = t.call.where(named, values, t.source);
  return Access::tensor(api::checked_number(t.call, std::move(out), at.index, axis, at.bounds));
}

void refuse_bool(const Call& call, DType dtype, std::string_view instead) {
  if (dtype != DType::bool_) return;
  throw DTypeError(call.operation(), fmt::format("takes integers and floats, not bool; use {}", instead));
}

Tensor combined(const Target& t, Combine combine, IncludeSelf self) {
  const Call& call = t.call;
  const DType own = t.source->dtype;
  DType dtype = is_floating(own) ? api::wide_dtype(own) : own;
  if (combine == Combine::mean && !is_floating(own)) dtype = api::total_dtype(own);
  const NodePtr source = call.cast(t.source, dtype), values = call.cast(t.values, dtype);
  const bool with_self = self == IncludeSelf::yes;
  const auto found = [&](Op op, Op join) {
    NodePtr all = t.at.combine(op, values);
    all = with_self ? call.binary(join, source, std::move(all)) : call.where(t.named(), std::move(all), source);
    return Access::tensor(call.cast(std::move(all), own));
  };
  if (combine == Combine::amax) return found(Op::ScatterMax, Op::Max);
  if (combine == Combine::amin) return found(Op::ScatterMin, Op::Min);
  refuse_bool(call, own, "amax, amin or put");
  if (combine == Combine::sum) return found(Op::ScatterSum, Op::Add);
  if (combine == Combine::prod) return found(Op::ScatterProd, Op::Mul);
  const NodePtr counts = t.counts();
  NodePtr total = t.at.combine(Op::ScatterSum, values);
  if (with_self) total = call.binary(Op::Add, source, std::move(total));
  NodePtr divisor = with_self ? call.binary(Op::Add, counts, 1.0) : call.binary(Op::Max, counts, 1.0);
  divisor = t.at.along(call.cast(std::move(divisor), dtype), t.source->shape);
  NodePtr mean = call.binary(is_floating(dtype) ? Op::Div : Op::FloorDiv, std::move(total), std::move(divisor));
  if (!with_self) {
    const NodePtr none = t.at.along(call.binary(Op::Le, counts, 0.0), t.source->shape);
    mean = call.where(none, source, std::move(mean));
  }
  return Access::tensor(call.cast(std::move(mean), own));
}

}  // namespace

Tensor api::put_at(const Call& call, const Operand& x, const Tensor& index, const Operand& values, std::int64_t axis,
                   Bounds bounds) {
  return replaced(lines_of(call, x, index, values, axis, bounds));
}

Tensor api::added_at(const Call& call, const Operand& x, const Tensor& index, const Operand& values, std::int64_t axis,
                     Bounds bounds) {
  refuse_bool(call, Access::default_dtype(x), "put");
  return combined(lines_of(call, x, index, values, axis, bounds), Combine::sum, IncludeSelf::yes);
}

Tensor put(const Operand& x, const Tensor& index, const Operand& values, std::int64_t axis, Bounds bounds) {
  return api::put_at(Call("put", x), x, index, values, axis, bounds);
}

Tensor put_add(const Operand& x, const Tensor& index, const Operand& values, std::int64_t axis, Bounds bounds) {
  return api::added_at(Call("put_add", x), x, index, values, axis, bounds);
}

Tensor index_add(const Operand& x, const Tensor& index, const Operand& values, std::int64_t axis, Bounds bounds) {
  return api::added_at(Call("index_add", x), x, index, values, axis, bounds);
}

Tensor index_reduce(const Operand& x, const Tensor& index, const Operand& values, Combine combine, std::int64_t axis,
                    IncludeSelf self, Bounds bounds) {
  const Call call("index_reduce", x);
  return combined(lines_of(call, x, index, values, axis, bounds), combine, self);
}

Tensor index_select(const Operand& x, std::int64_t axis, const Tensor& index, Bounds bounds) {
  const Call call("index_select", x);
  if (index.rank() != 1)
    throw ShapeError("index_select",
                     fmt::format("the index {} is no vector; take has no such rule", to_string(index.shape())));
  return api::taken(call, x, index, axis, bounds);
}

Tensor embedding(const Tensor& index, const Operand& table, Bounds bounds) {
  return api::taken(Call("embedding", table), table, index, 0, bounds);
}

Tensor scatter(const Operand& x, const Tensor& index, const Operand& values, std::int64_t axis, Bounds bounds) {
  const Call call("scatter", x);
  return replaced(elements_of(call, x, index, values, axis, bounds));
}

Tensor scatter_add(const Operand& x, const Tensor& index, const Operand& values, std::int64_t axis, Bounds bounds) {
  const Call call("scatter_add", x);
  refuse_bool(call, Access::default_dtype(x), "scatter");
  return combined(elements_of(call, x, index, values, axis, bounds), Combine::sum, IncludeSelf::yes);
}

Tensor scatter_reduce(const Operand& x, const Tensor& index, const Operand& values, std::int64_t axis, Combine combine,
                      IncludeSelf self, Bounds bounds) {
  const Call call("scatter_reduce", x);
  return combined(elements_of(call, x, index, values, axis, bounds), combine, self);
}

namespace {

/// The shape of x with the extent of `other` along `axis`, both broadcast on all other axes.
std::pair<Shape, Shape> along_axis(const Call& call, const Shape& x, const Shape& other, std::size_t axis) {
  if (x.size() != other.size()) {
    throw ShapeError(call.operation(), fmt::format("{} and {} differ in rank", to_string(x), to_string(other)));
  }
  Shape a = x, b = other;
  a[axis] = b[axis] = 1;
  a = b = graph::broadcast_shapes(a, b, call.origin());
  a[axis] = x[axis];
  b[axis] = other[axis];
  return {a, b};
}

}  // namespace

Tensor take_along_axis(const Operand& x, const Tensor& index, std::int64_t axis, Bounds bounds) {
  const Call call("take_along_axis", x);
  const NodePtr source = call.node(x), at = Access::node(index);
  const auto [own, domain] = along_axis(call, source->shape, at->shape, call.axis(axis, source->shape.size()));
  const Tensor positions = Access::tensor(call.broadcast(at, domain));
  return api::gathered(call, call.broadcast(source, own), positions, axis, bounds);
}

Tensor put_along_axis(const Operand& x, const Tensor& index, const Operand& values, std::int64_t axis, Bounds bounds) {
  const Call call("put_along_axis", x);
  const NodePtr source = call.node(x), at = Access::node(index);
  const auto [own, domain] = along_axis(call, source->shape, at->shape, call.axis(axis, source->shape.size()));
  if (!graph::known_same(own, source->shape))
    throw ShapeError("put_along_axis",
                     fmt::format("an index {} is larger than {}", to_string(at->shape), to_string(source->shape)));
  const Tensor positions = Access::tensor(call.broadcast(at, domain));
  NodePtr given = api::written_value(call, values, source->dtype, source->device);
  const Tensor wide = Access::tensor(call.broadcast(std::move(given), domain));
  return replaced(elements_of(call, Operand(Access::tensor(source), Access::site(x)), positions,
                              Operand(wide, Access::site(values)), axis, bounds));
}

Tensor masked_scatter(const Operand& x, const Operand& mask, const Operand& values) {
  const Call call("masked_scatter", x);
  const NodePtr source = call.node(x);
  NodePtr chosen = call.node(mask);
  if (chosen->dtype != DType::bool_) {
    throw DTypeError("masked_scatter",
                     fmt::format("the mask is {}; it must be bool, such as x != 0", name(chosen->dtype)));
  }
  chosen = call.broadcast(std::move(chosen), source->shape);
  NodePtr given = api::written_value(call, values, source->dtype, source->device);
  const Shape flat{numel(source->shape)};
  const Tensor counted = Access::tensor(call.reshape(call.cast(chosen, DType::int64), flat));
  const Site site = Access::site(x);
  const Tensor number = cumsum(Operand(counted, site), 0);
  const NodePtr at = call.reshape(call.binary(Op::Sub, Access::node(number), 1.0), source->shape);
  const Tensor list = Access::tensor(call.reshape(given, {numel(given->shape)}));
  const Tensor read = take(Operand(list, site), Access::tensor(at), 0, Bounds::zero);
  return Access::tensor(call.where(chosen, Access::node(read), source));
}

}  // namespace oriel
