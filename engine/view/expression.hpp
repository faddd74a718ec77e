// The index arithmetic of a stack of views, with quotients and remainders only where no bound shows them away.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "oriel/view.hpp"
#include "sym/node.hpp"

namespace oriel::detail {

/// A stack as arithmetic over its outermost axes. The conditions hold in order: each is evaluated only where those
/// before it hold, and `index` only where all hold; simplifications rely on that. Where an operand of a quotient or a
/// remainder is evaluated, it is never negative, as C's / and % need: so these nodes are interned as they stand, where
/// sym's builders would move multiples of the divisor out of the operand.
struct StackExpression {
  std::unique_ptr<sym::Pool> pool;    // holds the nodes; those of a symbolic stack live in its environment's pool
  std::vector<sym::Expr> atoms;       // a loop for each axis, then the quotients and remainders, operands first
  sym::Expr index = nullptr;          // a sum of multiples of atoms; null where no index is valid
  std::vector<sym::Expr> conditions;  // comparisons, sum >= number or sum < number
};

/// Throws OverflowError if a coefficient does not fit.
StackExpression express(std::span<const View> innermost_first);

/// How the leaves of an expression are written: an axis variable, and a number, which is never negative. Each leaf is
/// asked for once for each time that it is written, in the order of the text. Symbols, and what is made of them alone,
/// are written by their names unless `size` is given.
struct LeafText {
  std::function<std::string(std::size_t axis)> axis;
  std::function<std::string(std::int64_t number)> number;
  std::function<std::string(sym::Expr size)> size = {};
  bool floors = false;  ///< quotients as floor(a/b), for languages whose / is exact
};
/// i0, i1, ... and decimal numbers.
LeafText plain_leaves();

/// C text.
std::string index_text(const StackExpression& expression, const LeafText& leaves = plain_leaves());
/// "1" where always valid, "0" where never.
std::string valid_text(const StackExpression& expression, const LeafText& leaves = plain_leaves());

}  // namespace oriel::detail
