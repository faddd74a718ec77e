// Reads expressions from text.
#pragma once

#include <functional>
#include <string_view>

#include "sym/node.hpp"

namespace oriel::sym {

/// Reads an infix expression with Python's meaning: + - * // % ** (by a number), == != < <= > >= (chained ones hold
/// together), and or not, max(..) min(..) of any number of arguments, select(condition, a, b), True, False, numbers and
/// names. `symbol` gives a name's expression, or null where there is none. Throws ParseError, which names the column,
/// and what the builders throw. The text may have kMaxExpressionText characters and nest kMaxNesting deep.
Expr parse(Pool& pool, std::string_view text, const std::function<Expr(std::string_view name)>& symbol);
inline constexpr std::size_t kMaxExpressionText = 10000;
inline constexpr int kMaxNesting = 100;

/// Whether `name` may be a symbol's: a letter or underscore, then letters, digits and underscores, and no word of
/// parse().
bool is_symbol_name(std::string_view name) noexcept;

}  // namespace oriel::sym
