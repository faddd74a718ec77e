// Shrinks a failing case to a smallest one that fails in the same way.
#pragma once

#include "fuzz/properties.hpp"

namespace oriel::fuzz {

struct Counterexample {
  Case smallest;
  Failure failure;  // the failure of the smallest case
  std::size_t tried = 0;
  std::string program = {};  // the smallest case in the language of what was checked, or empty
};

/// Removes views, movements, axes and masks and reduces numbers as long as the same property stays violated. Greedy and
/// deterministic. Checks at most `budget` candidates.
Counterexample shrink(Subject& subject, Kind kind, Case failing, Failure failure, std::size_t budget = 20'000);

/// The kind under which a case is checked: one that brute force lists, if the case is small enough.
Kind checkable_kind(Kind kind, const Case& c);

/// The amount of text in a case, which shrinking reduces.
double weight(const Case& c);

}  // namespace oriel::fuzz
