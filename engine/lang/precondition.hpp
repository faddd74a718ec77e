// Checks that an access from which no range was derived stays in bounds.
#pragma once

#include <array>
#include <optional>
#include <unordered_map>
#include <vector>

#include "lang/index/solve.hpp"
#include "lang/infer.hpp"

namespace oriel::lang {

/// A linear expression lies in a range, which follows from a conditional.
struct Constraint {
  sym::Expr linear = nullptr;
  Interval range;
};

/// The consequences, for an access, of one value of a conditional around it.
struct GuardSide {
  /// A condition whose value must be `taken` wherever the access is used.
  struct Part {
    sym::Expr condition;
    bool taken;
    std::vector<std::int32_t> loops;
  };
  std::vector<Part> parts;
  std::optional<std::vector<Constraint>> constraints;  // computed when first needed
};

/// A conditional of a statement. Many accesses may be below it, so its facts are computed once.
struct GuardFacts {
  sym::Expr condition = nullptr;
  std::array<std::optional<GuardSide>, 2> sides;  // not taken, taken
};
using GuardTable = std::unordered_map<ExprId, GuardFacts>;

/// The position of the index expression in the text.
Span index_span(const Program& program, const CheckedStatement& statement, const Condition& condition);

/// Sets the status of condition `k`. Precondition: all ranges are known and numbers, and none is empty. Throws
/// ComprehensionError (precondition_violated), which gives a point at which the access is out of bounds.
void check_precondition(IndexBuilder& builder, const Program& program, const CheckedStatement& statement,
                        std::span<const sym::Expr> sizes, StatementRanges& ranges, std::size_t k, GuardTable& guards,
                        Budget& budget);

}  // namespace oriel::lang
