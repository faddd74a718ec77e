// The adjoint of a movement: of one that reads axis by axis from its index map, of a view by adjoint.cpp.
#include "graph/movements.hpp"

#include <algorithm>

#include "grad/rules.hpp"

namespace oriel::derive {

Value padded(const Value& x, std::size_t axis, SymInt before, SymInt after) {
  Ranges around(x.shape().size(), Range{0, 0});
  around[axis] = {before, after};
  return {x.call(), graph::pad(x.node(), around, x.call().origin())};
}

Value flipped(const Value& x, std::size_t axis) {
  return {x.call(), graph::flip(x.node(), {SymInt(axis)}, x.call().origin())};
}

namespace {

/// g with its axes in another order. Where g is a pending sum without the axes that it summed over, its operand is put
/// in that order in its place: so the gradient of a matrix that a product reads transposed is a product in the order of
/// the matrix, and is not transposed afterwards.
Value permuted(const Value& g, const Ints& order) {
  const NodePtr& dropped = g.node();
  const bool same =
      std::is_sorted(order.begin(), order.end(), [](SymInt a, SymInt b) { return a.value() < b.value(); });
  if (same || dropped->op != Op::Reshape) return g.permute(order);
  const auto sums = dropped->lazy_sources();
  if (sums.empty() || sums[0]->op != Op::Sum) return g.permute(order);
  const auto operands = sums[0]->lazy_sources();
  if (operands.empty()) return g.permute(order);
  const Ints& axes = std::get<Ints>(sums[0]->arg);
  Ints kept, front, moved = axes;
  for (std::size_t d = 0; d < sums[0]->shape.size(); ++d)
    if (std::find(axes.begin(), axes.end(), SymInt(d)) == axes.end()) kept.push_back(d);
  if (kept.size() != g.shape().size()) return g.permute(order);
  for (std::size_t d = 0; d < kept.size(); ++d)
    if (!identical(sums[0]->shape[static_cast<std::size_t>(kept[d].value())], g.shape()[d])) return g.permute(order);
  Shape shape;
  for (const SymInt d : order) {
    moved.push_back(kept[static_cast<std::size_t>(d.value())]);
    shape.push_back(g.shape()[static_cast<std::size_t>(d.value())]);
  }
  for (std::size_t d = 0; d < axes.size(); ++d) front.push_back(d);
  // A product is seen as one where its factors are in the order, and not the product of them.
  const auto factors = operands[0]->op == Op::Mul ? operands[0]->lazy_sources() : graph::Node::Sources{};
  const auto in_order = [&](const NodePtr& x) { return Value(g.call(), x).permute(moved); };
  const Value product = factors.empty() ? in_order(operands[0]) : in_order(factors[0]) * in_order(factors[1]);
  return product.reduce(Op::Sum, front).reshape(shape);
}

/// The sum over the indices that read each element of a source of shape `from`.
Value map_adjoint(const graph::IndexMap& map, const Shape& from, Value g) {
  Ints repeated, order;
  for (const graph::AxisRead& read : map.axes) {
    if (identical(read.step, 0)) repeated.push_back(read.axis);
    order.push_back(read.axis);
  }
  std::sort(repeated.begin(), repeated.end(), [](SymInt a, SymInt b) { return a.value() < b.value(); });
  g = repeated.empty() ? permuted(g, order) : g.reduce(Op::Sum, repeated).permute(order);
  for (std::size_t d = 0; d < from.size(); ++d) {
    SymInt start = map.axes[d].start, step = map.axes[d].step;
    const SymInt count = g.shape()[d];
    if (!identical(step, 0) && step < 0) {
      g = flipped(g, d);
      start = start + step * (count - 1);
      step = -step;
    }
    if (!identical(step, 0) && !identical(step, 1)) {  // step - 1 zeros behind each element
      Shape apart = g.shape(), joined = g.shape();
      apart.insert(apart.begin() + static_cast<std::ptrdiff_t>(d) + 1, SymInt(1));
      joined[d] = count * step;
      g = padded(g.reshape(apart), d + 1, 0, step - 1).reshape(joined).shrink(d, 0, from[d]);
    } else if (map.pads) {
      g = g.shrink(d, -start, from[d] - start);
    } else {
      g = padded(g, d, start, from[d] - start - count);
    }
  }
  return g;
}

}  // namespace

void pull_movement(Step& step) {
  const Node& node = step.node();
  const Shape& from = step.operand(0).shape();
  const Value g = step.cotangent();
  if (const auto map = graph::movement(node.op).map)
    step.give(0, map_adjoint(map(from, graph::move_of(node)), from, g));
  else if (graph::keeps_positions(node.op))
    step.give(0, g.reshape(from));
  else
    step.give(0, view_adjoint(*graph::move_of(node).view, from, g));
}

}  // namespace oriel::derive
