// Conditions on layouts whose sizes are symbols: what Layout's predicates ask, without a branch.
#pragma once

#include "oriel/api.hpp"
#include "oriel/layout.hpp"

namespace ORIEL_API oriel {

/// Layout::is_contiguous as a condition. No guard is recorded until the condition is turned into a bool, and then one
/// guard for the whole formula. A plain bool if all sizes and strides are numbers. What the ranges of the symbols
/// decide is left out of the formula: with n >= 2 the one below is s == 5.
///   ShapeEnv env;
///   const SymInt n = env.symbol("n", 4), s = env.symbol("s", 5);
///   contiguity(Layout{{n, 5}, {s, 1}});  // n == 1 or s == 5 or 5*n == 0
/// Throws ArgumentError for preserve.
SymBool contiguity(const Layout& layout, MemoryFormat format = MemoryFormat::contiguous);

/// Layout::is_non_overlapping_and_dense as a condition: true if it holds for all values in range. Otherwise one opaque
/// condition on all sizes and strides, which the hints decide, so that the sort of the strides records no guard for
/// each comparison. False if a symbol without a hint leaves it open.
SymBool density(const Layout& layout);

}  // namespace oriel
