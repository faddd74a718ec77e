// Shows that conditions contradict each other.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sym/node.hpp"

namespace oriel::sym {

/// Expressions that are at least 0 because `not_negative` is, wherever it is defined and its variables are within their
/// bounds. Quotients are multiplied out, common factors are divided out, extremes are replaced by their arguments, and
/// bounds of products and powers are turned into bounds of their factors.
std::vector<Expr> consequences(Expr not_negative);

/// True only if no values of the variables within their bounds satisfy all `conditions`. Products, quotients,
/// remainders, minima and selections become unknowns with linear facts about them; each side of a disjunction is tried.
/// The remaining problem is linear (linear.hpp). At most `budget` linear systems are decided.
bool contradicts(std::span<const Expr> conditions, int budget = 48);

/// The same for conditions that divide a variable by a number up to 8: `contradicts` for each remainder, with the
/// variable as a multiple plus the remainder.
bool contradicts_by_residues(std::span<const Expr> conditions);

/// The result of a search among values.
struct Search {
  enum class Verdict { none, found, unknown };  ///< no values satisfy the conditions; `values` do; not decided
  Verdict verdict = Verdict::unknown;
  std::vector<Expr> variables;
  std::vector<std::int64_t> values;
};

/// Tries values near `start` (one for each variable, by name) and at the variables' ends.
Search search_near(std::span<const Expr> conditions, std::span<const std::int64_t> start);

/// Splits the variables' bounds into boxes until each box is refuted, by ranges or by `contradicts`, or is one point.
/// Exact within its budget of boxes: small systems of any form are decided.
Search search_boxes(std::span<const Expr> conditions, int budget = 1500);

}  // namespace oriel::sym
