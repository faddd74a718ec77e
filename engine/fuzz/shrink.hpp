// From a failing case to the smallest one that fails in the same way.
#pragma once

#include "fuzz/properties.hpp"

namespace oriel::fuzz {

struct Counterexample {
  Case smallest;
  Failure failure;  // of the smallest case
  std::size_t tried = 0;
};

/// Takes away views, movements, axes, masks and magnitudes as long as the same property stays broken. Greedy and
/// deterministic; at most `budget` candidates are checked.
Counterexample shrink(Subject& subject, Kind kind, Case failing, Failure failure, std::size_t budget = 20'000);

/// The kind under which a case is checked: where brute force can list it, it does.
Kind checkable_kind(Kind kind, const Case& c);

/// How much there is to read in a case; what shrinking makes less.
double weight(const Case& c);

}  // namespace oriel::fuzz
