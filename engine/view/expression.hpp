// The index arithmetic of a stack of views, with quotients and remainders only where no bound shows them away.
#pragma once

#include <boost/container/small_vector.hpp>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "oriel/view.hpp"

namespace oriel::detail {

struct Term {
  SymInt coefficient;
  std::size_t atom = 0;
  friend bool operator==(const Term&, const Term&) = default;
};

/// offset + sum of coefficient * atom, with bounds over the indices at which it is evaluated.
struct Linear {
  SymInt offset;
  boost::container::small_vector<Term, 4> terms;  // by rising atom, no coefficient 0
  SymInt least;
  SymInt greatest;
};

/// What a linear form is made of: an axis variable, or a quotient or remainder of a form that is never negative.
struct Atom {
  enum class Kind { Axis, Quotient, Remainder };
  Kind kind = Kind::Axis;
  std::size_t axis = 0;  // Axis
  Linear operand;        // Quotient and Remainder
  SymInt divisor = 1;
  SymInt least;
  SymInt greatest;
};

/// lower <= value < upper; either end may be open.
struct Condition {
  Linear value;
  std::optional<SymInt> lower;
  std::optional<SymInt> upper;
};

/// A stack as arithmetic over its outermost axes. The conditions hold in order: each is evaluated only where those
/// before it hold, and `index` only where all hold; bounds, and so simplifications, rely on that.
struct StackExpression {
  std::vector<Atom> atoms;  // axes first; an operand uses earlier atoms only
  Linear index;
  std::vector<Condition> conditions;
  bool never = false;  // no index is valid; `index` is 0 and there are no conditions
};

/// Throws OverflowError if a coefficient does not fit.
StackExpression express(std::span<const View> innermost_first);

/// How the leaves of an expression are written: an axis variable, and a number, which is never negative. Each leaf is
/// asked for once for each time that it is written, in the order of the text.
struct LeafText {
  std::function<std::string(std::size_t axis)> axis;
  std::function<std::string(SymInt number)> number;
};
/// i0, i1, ... and decimal numbers.
LeafText plain_leaves();

/// C text.
std::string index_text(const StackExpression& expression, const LeafText& leaves = plain_leaves());
/// "1" where always valid, "0" where never.
std::string valid_text(const StackExpression& expression, const LeafText& leaves = plain_leaves());

}  // namespace oriel::detail
