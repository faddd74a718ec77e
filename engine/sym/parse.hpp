// Reads expressions from text.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "sym/node.hpp"

namespace oriel::sym {

/// Reads an infix expression with Python's meaning: + - * // % ** (by a number), == != < <= > >= (also chained: a < b <
/// c), and or not, max(..) and min(..) of any number of arguments, select(condition, a, b), True, False, numbers and
/// names. `symbol` returns the expression of a name, or null if there is none. Throws ParseError, which names the
/// column, and whatever the builders throw. The text may have at most kMaxExpressionText characters and nest
/// kMaxNesting deep.
///
/// Appends to `divisors`, unless it is null, those that may be 0, where the text has no value, and that the expression
/// has lost. Divisors in operands of `and`, `or` and select are left out: there the text may have a value.
Expr parse(Pool& pool, std::string_view text, const std::function<Expr(std::string_view name)>& symbol,
           std::vector<Expr>* divisors = nullptr);
inline constexpr std::size_t kMaxExpressionText = 10000;
inline constexpr int kMaxNesting = 100;

/// May `name` name a symbol? It must be a letter or underscore, followed by letters, digits and underscores, and not a
/// word that parse() reserves.
bool is_symbol_name(std::string_view name) noexcept;

}  // namespace oriel::sym
