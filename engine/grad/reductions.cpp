// Reductions.
#include "grad/rules.hpp"
#include "grad/scans.hpp"

namespace oriel::derive {

namespace {

const Ints& axes_of(const Step& step) { return std::get<Ints>(step.node().arg); }

/// x, which has extent 1 along the reduced axes, for each element of the operand.
Value repeated(const Step& step, const Value& x) { return x.broadcast(step.operand(0).shape()); }

/// The largest or smallest elements share evenly (amax of PyTorch, max of JAX).
void pull_ties(Step& step) {
  const Value chosen = step.operand(0) == repeated(step, step.result());
  const Value count = chosen.to(step.cotangent().dtype()).reduce(Op::Sum, axes_of(step));
  step.give(0, where(chosen, repeated(step, step.cotangent() / count), 0));
}

}  // namespace

namespace rules {

void Sum::pull(Step& step) { step.give(0, repeated(step, step.cotangent())); }
void SumAbs::pull(Step& step) { step.give(0, repeated(step, step.cotangent()) * sign(step.operand(0))); }
void ReduceMax::pull(Step& step) { pull_ties(step); }
void ReduceMin::pull(Step& step) { pull_ties(step); }

// The product of the others, which no division gives beside zeros: of those before times of those behind.
void Prod::pull(Step& step) {
  const Value x = step.operand(0);
  const Ints& axes = axes_of(step);
  const std::size_t rank = x.shape().size();
  Ints order;  // the reduced axes last, as one
  for (std::size_t d = 0; d < rank; ++d)
    if (std::find(axes.begin(), axes.end(), SymInt(d)) == axes.end()) order.push_back(d);
  Shape lines;
  for (const SymInt d : order) lines.push_back(x.shape()[static_cast<std::size_t>(d.value())]);
  lines.push_back(step.call().count(x.shape(), axes));
  order.insert(order.end(), axes.begin(), axes.end());
  const Value apart = x.permute(order), line = apart.reshape(lines);
  const std::size_t last = lines.size() - 1;
  const Value before = shifted(scanned(Op::CumProd, line, last), last, 1);
  const Value behind = flipped(shifted(scanned(Op::CumProd, flipped(line, last), last), last, 1), last);
  Ints back(rank);
  for (std::size_t d = 0; d < rank; ++d) back[static_cast<std::size_t>(order[d].value())] = d;
  step.give(0, repeated(step, step.cotangent()) * (before * behind).reshape(apart.shape()).permute(back));
}

}  // namespace rules

}  // namespace oriel::derive
