// Bounds of index expressions whose sizes are symbols, and the ranges that keep them in bounds, as formulas.
#pragma once

#include <span>
#include <vector>

#include "lang/index/index.hpp"

namespace oriel::lang {

/// The least and the greatest value of an expression, both included. Null: no bound was found.
struct ExprBounds {
  sym::Expr lo = nullptr;
  sym::Expr hi = nullptr;
};

/// What holds for the sizes: the bounds of their symbols, and conditions that are assumed.
class SizeFacts {
 public:
  /// True only if the condition holds for all sizes that satisfy the facts. May miss some that do.
  bool proves(sym::Expr condition);
  /// As proves(), with further conditions, such as the ranges of loops.
  bool proves(sym::Expr condition, std::span<const sym::Expr> more);
  void assume(sym::Expr condition) { facts_.push_back(condition); }
  std::span<const sym::Expr> facts() const noexcept { return facts_; }

  /// The smaller (greater) of both, without the other if a proof shows which one it is.
  sym::Expr smaller(sym::Expr a, sym::Expr b);
  sym::Expr greater(sym::Expr a, sym::Expr b);

 private:
  std::vector<sym::Expr> facts_;
  int proofs_left_ = 3000;  // then nothing more is proved, so that no program takes long
};

/// True if the expression contains neither loops nor elements that are read.
bool has_only_sizes(sym::Expr e);
/// Encloses the expression over a box of loops, all of whose ranges have ends and are not empty. Exact if each loop
/// occurs once and there is no remainder or selection.
ExprBounds enclose(sym::Expr e, std::span<const IndexRange> box, SizeFacts& facts);

/// The constraints that one index expression puts on one loop.
class SymbolicSolver {
 public:
  /// The ranges in `box` of all other loops that occur must be known.
  SymbolicSolver(std::int32_t variable, std::span<const IndexRange> box, SizeFacts& facts)
      : variable_(variable), box_(box), facts_(facts) {}

  /// Collects what keeps `e` in `target` for all values of the other loops. False if the form of `e` has no formula;
  /// what was collected is then void.
  bool solve(sym::Expr e, IndexRange target);

  std::vector<sym::Expr> lows;      // the loop is at least each of these
  std::vector<sym::Expr> ends;      // and below each of these
  std::vector<sym::Expr> required;  // conditions over sizes alone
  bool exact = true;                // the required conditions are necessary, too

 private:
  bool has_variable(sym::Expr e) const;
  bool solve_sum(sym::Expr e, IndexRange target);
  bool solve_multiple(sym::Expr e, sym::Expr factor, IndexRange target, ExprBounds rest);
  bool solve_extremum(sym::Expr e, IndexRange target);
  bool solve_remainder(sym::Expr e, IndexRange target);

  std::int32_t variable_;
  std::span<const IndexRange> box_;
  SizeFacts& facts_;
};

/// `small <= large` as people write it: each term on the side where its coefficient is positive, "I + J - 1 <= K",
/// "I >= 2". Conditions on a minimum or a quotient become conditions on their arguments.
void at_most(sym::Expr small, sym::Expr large, std::vector<sym::Expr>& out);

}  // namespace oriel::lang
