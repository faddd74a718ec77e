// Inequalities that follow from one.
#pragma once

#include <vector>

#include "sym/node.hpp"

namespace oriel::sym {

/// Expressions that are at least 0 because `not_negative` is, wherever it is defined and its variables are within their
/// bounds: quotients are multiplied out, common factors divided, extremes replaced by their arguments, and products and
/// powers bound their factors.
std::vector<Expr> consequences(Expr not_negative);

}  // namespace oriel::sym
