// The adjoint of a movement: of one that reads axis by axis from its index map, of a view by adjoint.cpp.
#include "graph/movements.hpp"

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

/// The sum over the indices that read each element of a source of shape `from`.
Value map_adjoint(const graph::IndexMap& map, const Shape& from, Value g) {
  Ints repeated, order;
  for (const graph::AxisRead& read : map.axes) {
    if (identical(read.step, 0)) repeated.push_back(read.axis);
    order.push_back(read.axis);
  }
  std::sort(repeated.begin(), repeated.end(), [](SymInt a, SymInt b) { return a.value() < b.value(); });
  g = g.reduce(Op::Sum, repeated).permute(order);
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
