#include "grad/rules.hpp"

#include <fmt/format.h>

#include <array>

#include "oriel/error.hpp"

namespace oriel::derive {

namespace {

constexpr std::array<Rule, graph::kOpCount> kDerivatives = [] {
  std::array<Rule, graph::kOpCount> out{};
#define ORIEL_LEAF(op, ...) out[static_cast<std::size_t>(Op::op)] = {nullptr, "has no operand"};
#define ORIEL_MOVEMENT(op, ...) out[static_cast<std::size_t>(Op::op)] = {pull_movement};
#define ORIEL_OTHER(op, ...) out[static_cast<std::size_t>(Op::op)] = {rules::op::pull, rules::op::none};
  ORIEL_LEAVES(ORIEL_LEAF)
  ORIEL_MOVEMENTS(ORIEL_MOVEMENT)
  ORIEL_OTHER_OPS(ORIEL_OTHER)
  ORIEL_ELEMENTWISE_OPS(ORIEL_OTHER)
  ORIEL_REDUCTIONS(ORIEL_OTHER)
#undef ORIEL_LEAF
#undef ORIEL_MOVEMENT
#undef ORIEL_OTHER
  return out;
}();

constexpr bool each_has_a_rule_or_a_reason() {
  for (const Rule& rule : kDerivatives)
    if ((rule.pull == nullptr) == rule.none.empty()) return false;
  return true;
}
static_assert(each_has_a_rule_or_a_reason());

}  // namespace

const Rule& rule(Op op) noexcept { return kDerivatives[static_cast<std::size_t>(op)]; }

void Step::give(std::size_t k, const Value& share) {
  const Node& to = *operands_[k];
  bool fits = share.dtype() == to.dtype && share.shape().size() == to.shape.size();
  for (std::size_t d = 0; fits && d < to.shape.size(); ++d)
    fits = to.shape[d].is_symbolic() || share.shape()[d].is_symbolic() || to.shape[d] == share.shape()[d];
  if (!fits)
    throw InternalError(call_.operation(), fmt::format("the rule of {} gives {} {} to an operand {} {}",
                                                       graph::name(node_.op), name(share.dtype()),
                                                       to_string(share.shape()), name(to.dtype), to_string(to.shape)));
  NodePtr& sum = shares_[k];
  sum = sum ? call_.binary(Op::Add, std::move(sum), share.node()) : share.node();
}

void Step::give_times(std::size_t k, double factor) {
  if (factor == 0) return;
  if (factor == 1) return give(k, cotangent());
  give(k, factor == -1 ? -cotangent() : cotangent() * factor);
}

}  // namespace oriel::derive
