// Elementwise ops: by their partial derivatives, but for those that choose between operands or convert.
#include <concepts>

#include "grad/rules.hpp"

namespace oriel::derive {

namespace {

using namespace ops;  // constants of the partials

template <class Partial>
void multiply(Step& step, std::size_t k, const Partial& partial) {
  if constexpr (std::same_as<Partial, Value>)
    step.give_times(k, partial);
  else
    step.give_times(k, static_cast<double>(partial));
}

/// A number, rather than a tensor whose elements happen to be equal.
bool is_scalar_constant(const Value& x) {
  return x.node()->op == Op::Const && !x.node()->realized() && !x.node()->found;
}

/// The larger operand, or the smaller. Of equal tensors each takes half; beside a number a tensor takes nothing, as
/// relu(x) = max(x, 0) has 0 at 0; at a bound of clamp, which its range includes, x takes all.
template <bool larger>
void pull_extreme(Step& step) {
  const Value a = step.operand(0), b = step.operand(1), g = step.cotangent();
  const auto give = [&](std::size_t k, const Value& chosen, double share) {
    if (!step.wants(k)) return;
    const Value beside = share == 0 ? g.like(0) : where(a == b, share == 1 ? g : g * share, 0);
    step.give(k, where(chosen, g, beside));
  };
  const bool includes = step.node().includes;
  const double even = is_scalar_constant(a) || is_scalar_constant(b) ? 0 : 0.5;
  give(0, larger ? b < a : a < b, includes ? 1 : even);
  give(1, larger ? a < b : b < a, includes ? 0 : even);
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

void Where::pull(Step& step) {
  const Value c = step.operand(0);
  if (step.wants(1)) step.give_where(1, c);
  if (step.wants(2)) step.give_where(2, !c);
}

void Cast::pull(Step& step) { step.give(0, step.cotangent().to(step.operand(0).dtype())); }

}  // namespace rules

}  // namespace oriel::derive
