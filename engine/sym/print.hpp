// Expressions as text.
#pragma once

#include <string>

#include "sym/node.hpp"

namespace oriel::sym {

enum class Notation {
  infix,     ///< Python's: 5*max(1, x), s0 % 4 == 0, not, and, or
  notebook,  ///< SymPy's: 5*Max(1, x), Eq(Mod(s0, 4), 0), | and &
};

/// The text of `expr`. parse() reads infix texts. Numbers come first in products and last in sums, unless all other
/// terms are subtracted. A text longer than kMaxText characters ends in "...".
std::string to_string(Expr expr, Notation notation = Notation::infix);
inline constexpr std::size_t kMaxText = 1 << 20;

}  // namespace oriel::sym
