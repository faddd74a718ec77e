// Scans and sorts.
#include "grad/scans.hpp"

#include "grad/reads.hpp"
#include "grad/rules.hpp"

namespace oriel::derive {

Value scanned(Op op, const Value& x, std::size_t axis) {
  return Value(x.call(), graph::scan(op, x.node(), axis, x.call().origin())).to(x.dtype());
}

Value shifted(const Value& x, std::size_t axis, double first) {
  const SymInt n = x.shape()[axis];
  Ranges before(x.shape().size(), Range{0, 0});
  before[axis] = {1, 0};
  const Value moved(x.call(), x.call().pad(x.node(), before, graph::Scalar::of_float(x.dtype(), first)));
  return moved.shrink(axis, 0, n);
}

Value backward_recurrence(const Value& a, const Value& b, std::size_t axis, bool restarts) {
  const Call& call = b.call();
  const NodePtr y = graph::recurrence(flipped(a, axis).node(), flipped(b, axis).node(), axis, call.origin(), restarts);
  return flipped(Value(call, y), axis);
}

namespace {

std::size_t axis_of(const Step& step) { return static_cast<std::size_t>(std::get<Ints>(step.node().arg)[0].value()); }

/// x[t + 1] at t; `last` at the end.
Value next(const Value& x, std::size_t axis, double last) {
  return flipped(shifted(flipped(x, axis), axis, last), axis);
}

/// The element that is the largest so far takes all that its successors have: the last one of equal ones, as the
/// positions that cummax returns say.
void pull_records(Step& step) {
  const std::size_t axis = axis_of(step);
  const Value x = step.operand(0), y = step.result();
  const Value place = positions(step.call(), x.shape(), axis, x.device()).broadcast(x.shape());
  const Value record = (x == y.to(x.dtype())) | isnan(x);
  const Value from = scanned(Op::CumMax, where(record, place, 0), axis);
  step.give(0, scattered(step.cotangent(), from, axis, x.shape()).to(x.dtype()));
}

}  // namespace

namespace rules {

void CumSum::pull(Step& step) {
  const std::size_t axis = axis_of(step);
  step.give(0, flipped(scanned(Op::CumSum, flipped(step.cotangent(), axis), axis), axis).to(step.operand(0).dtype()));
}

// y[t] is the product of x[..t]. So x[i] takes the product before it times the sum over t >= i of g[t] x[i+1] .. x[t].
void CumProd::pull(Step& step) {
  const std::size_t axis = axis_of(step);
  const Value g = step.cotangent(), x = step.operand(0).to(g.dtype());
  const Value behind = backward_recurrence(next(x, axis, 0), g, axis, false);
  step.give(0, (shifted(scanned(Op::CumProd, x, axis), axis, 1) * behind).to(step.operand(0).dtype()));
}

void CumMax::pull(Step& step) { pull_records(step); }
void CumMin::pull(Step& step) { pull_records(step); }

// y[t] = a[t] y[t-1] + b[t]: the cotangents run backward through the same recurrence.
void Recurrence::pull(Step& step) {
  const std::size_t axis = axis_of(step);
  const auto kind = static_cast<graph::Recursion>(std::get<Ints>(step.node().arg)[1].value());
  const Value a = step.operand(0).broadcast(step.operand(1).shape());
  const Value all = backward_recurrence(next(a, axis, 0), step.cotangent(), axis, kind == graph::Recursion::restarts);
  if (step.wants(1)) step.give(1, all);
  if (!step.wants(0)) return;
  const Value factor = all * shifted(step.result(), axis, 0);
  const std::size_t rank = factor.shape().size();
  step.give(0, kind == graph::Recursion::number
                   ? factor.reduce(Op::Sum, api::axes_from(0, rank)).drop(api::axes_from(0, rank))
                   : factor);
}

// Each element goes back to where it came from: element i of the operand stands at the place of i in their order.
void Sort::pull(Step& step) {
  const Value x = step.operand(0);
  const Call& call = step.call();
  const bool descending = std::get<Ints>(step.node().arg)[0] == 1;
  const Value order(call, graph::sort(Op::ArgSort, x.node(), descending, call.origin()));
  const Value place(call, graph::sort(Op::ArgSort, order.node(), false, call.origin()));
  step.give(0, read_along(step.cotangent(), place, x.shape().size() - 1));
}

}  // namespace rules

}  // namespace oriel::derive
