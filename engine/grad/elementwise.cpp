// Elementwise ops: by their partial derivatives, but for those that choose between operands or convert.
#include <concepts>

#include "base/element_types.hpp"
#include "grad/rules.hpp"

namespace oriel::derive {

namespace {

using ops::kLn10;
using ops::kLn2;
using ops::kTwoOverSqrtPi;

template <class Partial>
void multiply(Step& step, std::size_t k, const Partial& partial) {
  if constexpr (std::same_as<Partial, Value>)
    step.give_times(k, partial);
  else
    step.give_times(k, static_cast<double>(partial));
}

/// The larger operand, or the smaller. Where they are equal the node says who has the derivative (graph::Tie).
template <bool larger>
void pull_extreme(Step& step) {
  const Value a = step.operand(0), b = step.operand(1), g = step.cotangent();
  const auto give = [&](std::size_t k, const Value& chosen, double share) {
    if (!step.wants(k)) return;
    const Value beside = share == 0 ? g.like(0) : where(a == b, share == 1 ? g : g * share, 0);
    step.give(k, where(chosen, g, beside));
  };
  const graph::Tie tie = step.node().tie;
  const double even = tie == graph::Tie::even ? 0.5 : 0;
  give(0, larger ? b < a : a < b, tie == graph::Tie::first ? 1 : even);
  give(1, larger ? a < b : b < a, even);
}

/// x, or the largest number where it is infinite: what is 0 times it stays 0, as where sigmoid is 0 or a branch is not
/// taken.
Value finite(const Value& x) { return min(x, base::largest_finite(x.dtype())); }

/// Is it a sum, scaled or with a lower bound? Then its root is a norm or a deviation.
bool is_sum(NodePtr node) {
  constexpr int kSteps = 8;
  for (int k = 0; k < kSteps && !node->realized(); ++k) {
    if (node->op == Op::Sum) return true;
    const auto sources = node->lazy_sources();
    const bool passes = graph::is_movement(node->op) || node->op == Op::Cast || node->op == Op::Mul ||
                        node->op == Op::Div || node->op == Op::Max;
    if (sources.empty() || !passes) return false;
    node = sources[0]->op == Op::Const && sources.size() > 1 ? sources[1] : sources[0];
  }
  return false;
}

}  // namespace

namespace rules {

#define ORIEL_UNARY_RULE(op_, partial)                                   \
  void op_::pull(Step& step) {                                           \
    [[maybe_unused]] const Value a = step.operand(0), y = step.result(); \
    multiply(step, 0, partial);                                          \
  }
ORIEL_UNARY_PARTIALS(ORIEL_UNARY_RULE)
#undef ORIEL_UNARY_RULE

#define ORIEL_BINARY_RULE(op_, first, second)                                                 \
  void op_::pull(Step& step) {                                                                \
    [[maybe_unused]] const Value a = step.operand(0), b = step.operand(1), y = step.result(); \
    if (step.wants(0)) multiply(step, 0, first);                                              \
    if (step.wants(1)) multiply(step, 1, second);                                             \
  }
ORIEL_BINARY_PARTIALS(ORIEL_BINARY_RULE)
#undef ORIEL_BINARY_RULE

void Max::pull(Step& step) { pull_extreme<true>(step); }
void Min::pull(Step& step) { pull_extreme<false>(step); }

// Of a sum of squares that is 0 the derivative is 0, as that of a norm in PyTorch.
void Sqrt::pull(Step& step) {
  const Value y = step.result();
  step.give_times(0, is_sum(step.operand(0).node()) ? where(y == 0, 0, 0.5 / y) : 0.5 / y);
}

void Where::pull(Step& step) {
  const Value c = step.operand(0);
  if (step.wants(1)) step.give_where(1, c);
  if (step.wants(2)) step.give_where(2, !c);
}

void Cast::pull(Step& step) { step.give(0, step.cotangent().to(step.operand(0).dtype())); }

}  // namespace rules

}  // namespace oriel::derive
