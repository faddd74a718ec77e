// Inequalities that follow from another inequality.
#pragma once

#include <vector>

#include "sym/node.hpp"

namespace oriel::sym {

/// Expressions that are at least 0 because `not_negative` is, wherever it is defined and its variables are within their
/// bounds. Quotients are multiplied out, common factors are divided out, extremes are replaced by their arguments, and
/// bounds of products and powers are turned into bounds of their factors.
std::vector<Expr> consequences(Expr not_negative);

}  // namespace oriel::sym
