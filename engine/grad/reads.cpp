// Gathers, scatters, writes and copies.
#include "grad/reads.hpp"

#include "functions/scatter_parts.hpp"
#include "grad/rules.hpp"
#include "graph/gather.hpp"

namespace oriel::derive {

Value read_along(const Value& x, const Value& place, std::size_t axis) {
  const Call& call = x.call();
  std::vector<NodePtr> coordinates(x.shape().size());
  for (std::size_t d = 0; d < coordinates.size(); ++d)
    coordinates[d] =
        d == axis ? place.node() : positions(call, place.shape(), d, x.device()).broadcast(place.shape()).node();
  const Value inside = place >= 0;
  return {call, graph::gather_at(x.node(), coordinates, inside.node(), call.origin())};
}

Value scattered(const Value& x, const Value& place, std::size_t axis, const Shape& shape, Op op) {
  const Call& call = x.call();
  // A scatter counts negative positions from the end.
  const Value end(call, graph::size_constant(shape[axis], DType::int64, place.shape(), place.device(), call.origin()));
  const Value inside = where(place < 0, end, place);
  const api::Scattered target{call, shape, axis, x.device(), inside.node(), place.shape().size() == shape.size()};
  const DType sums = api::wide_dtype(x.dtype());  // scatters take no halves
  return Value(call, target.combine(op, x.to(sums).node())).to(x.dtype());
}

namespace {

/// The parts of a scatter: the entry of each value, and back.
struct ScatterOf {
  explicit ScatterOf(const Step& step)
      : shape(step.node().shape),
        axis(static_cast<std::size_t>(std::get<Ints>(step.node().arg)[0].value())),
        number(std::get<Ints>(step.node().arg)[2] == 1),
        place(step.operand(0)) {
    const Call& call = step.call();
    const Value end(call,
                    graph::size_constant(shape[axis], DType::int64, place.shape(), place.device(), call.origin()));
    place = where(place < 0, place + end, place);
    place = where(place < end, place, -1);
    if (place.shape().size() == shape.size()) return;
    Shape line(shape.size(), SymInt(1)), lines = shape;
    line[axis] = lines[axis] = place.shape()[0];
    place = place.reshape(line).broadcast(lines);
  }
  /// x, of the result's shape, at the entry of each value.
  Value at_values(const Value& x) const { return read_along(x, place, axis); }
  Value sum(const Value& x) const { return scattered(x, place, axis, shape); }
  /// Of one value for all positions: the sum.
  Value collected(const Value& share) const {
    if (!number) return share;
    const Ints all = api::axes_from(0, shape.size());
    return share.reduce(Op::Sum, all).drop(all);
  }

  Shape shape;
  std::size_t axis;
  bool number;
  Value place;
};

/// Among the largest or smallest values of an entry the cotangent is shared evenly.
void pull_extremes(Step& step) {
  if (!step.wants(1)) return;
  const ScatterOf of(step);
  const Value values = step.operand(1).broadcast(of.place.shape());
  const Value chosen = (values == of.at_values(step.result())) & (of.place >= 0);
  const Value count = of.sum(chosen.to(values.dtype()));
  step.give(1, of.collected(where(chosen, of.at_values(step.cotangent() / count), 0)));
}

}  // namespace

namespace rules {

void ScatterSum::pull(Step& step) {
  if (!step.wants(1)) return;
  const ScatterOf of(step);
  step.give(1, of.collected(of.at_values(step.cotangent())));
}

// The product of an entry's other values: beside one zero that of all but it, beside two nothing.
void ScatterProd::pull(Step& step) {
  if (!step.wants(1)) return;
  const ScatterOf of(step);
  const Value values = step.operand(1).broadcast(of.place.shape());
  const Value zero = values == 0;
  const Value zeros = of.at_values(of.sum(zero.to(values.dtype())));
  const Value others = where(zero, 1, values);
  const Value product = of.at_values(scattered(others, of.place, of.axis, of.shape, Op::ScatterProd));
  const Value partial = where(zeros == 0, product / others, where((zeros == 1) & zero, product, 0));
  step.give(1, of.collected(of.at_values(step.cotangent()) * partial));
}

void ScatterMax::pull(Step& step) { pull_extremes(step); }
void ScatterMin::pull(Step& step) { pull_extremes(step); }

// Row-major positions: a sum at each of them, over all elements as one axis.
void Gather::pull(Step& step) {
  if (!step.wants(0)) return;
  const Shape from = step.operand(0).shape();
  const Value place = step.operand(1), g = step.cotangent();
  const SymInt read = numel(place.shape()), all = numel(from);
  step.give(0, scattered(g.reshape({read}), place.reshape({read}), 0, {all}).reshape(from));
}

// What was written over takes nothing; the value takes what the view of the write shows.
void Assign::pull(Step& step) {
  const Value g = step.cotangent();
  const auto* const view = std::get_if<std::shared_ptr<const ShapeTracker>>(&step.node().arg);
  const bool all = view == nullptr || *view == nullptr;
  if (step.wants(0) && !all) {
    const Value zeros(step.call(), graph::constant(graph::Scalar::of_float(g.dtype(), 0), step.operand(1).shape(),
                                                   g.device(), step.call().origin()));
    step.give(0, {step.call(), graph::assign(g.node(), zeros.node(), *view, step.call().origin())});
  }
  if (!step.wants(1)) return;
  NodePtr written = g.node();
  if (!all)
    for (const View& each : (*view)->views()) written = graph::raw_view(std::move(written), each, step.call().origin());
  step.give(1, {step.call(), std::move(written)});
}

void Copy::pull(Step& step) {
  step.give(0, {step.call(), graph::copy(step.cotangent().node(), step.operand(0).device(), step.call().origin())});
}

}  // namespace rules

}  // namespace oriel::derive
