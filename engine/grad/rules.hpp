// The rule of each op: how derivatives go through it.
#pragma once

#include <string_view>

#include "grad/step.hpp"
#include "ops/partials.hpp"

namespace oriel::derive {

struct Rule {
  /// Gives the operands of a step their shares. Null: no derivative goes through the op.
  void (*pull)(Step& step) = nullptr;
  /// Why none does.
  std::string_view none = {};
};

const Rule& rule(Op op) noexcept;

// clang-format off
// Ops with a rule of their own that is no partial derivative. Movements have one for all (movements.cpp).
#define ORIEL_OWN_RULES(X) \
  X(Max) X(Min) X(Where) X(Cast) X(Sqrt) X(Sum) X(SumAbs) X(Prod) X(ReduceMax) X(ReduceMin) X(Assign) X(Gather) X(Copy) X(Sort) \
  X(CumSum) X(CumProd) X(CumMax) X(CumMin) X(Recurrence) X(ScatterSum) X(ScatterProd) X(ScatterMax) X(ScatterMin) \
  X(HostCall) X(HostCall2) X(HostCall3)
// X(op, why no derivative goes through it)
#define ORIEL_NO_RULES(X) \
  X(ArgSort,     "gives positions") \
  X(ScatterLast, "gives positions") \
  X(ReduceOr,    "takes integers") \
  X(ReduceAnd,   "takes integers")
// clang-format on

/// A struct for each op but leaves and movements: an op without one does not compile (rules.cpp).
namespace rules {
#define ORIEL_RULE(op_, ...)                     \
  struct op_ {                                   \
    static void pull(Step& step);                \
    static constexpr std::string_view none = {}; \
  };
#define ORIEL_NO_RULE(op_, why)                           \
  struct op_ {                                            \
    static constexpr void (*pull)(Step & step) = nullptr; \
    static constexpr std::string_view none = why;         \
  };
ORIEL_UNARY_PARTIALS(ORIEL_RULE)
ORIEL_BINARY_PARTIALS(ORIEL_RULE)
ORIEL_OWN_RULES(ORIEL_RULE)
ORIEL_WITHOUT_PARTIALS(ORIEL_NO_RULE)
ORIEL_NO_RULES(ORIEL_NO_RULE)
#undef ORIEL_RULE
#undef ORIEL_NO_RULE
}  // namespace rules

/// The rule of every movement: its adjoint follows from its index map, or from its view.
void pull_movement(Step& step);

}  // namespace oriel::derive
