// Decides whether the walk points at which an inner view's mask holds form a box, and which.
#pragma once

#include "oriel/inline_vector.hpp"
#include "view/merging/carry.hpp"

namespace oriel::detail {

/// The constraint that n mod period lies in [lo, hi). Every masked block of an inner view is such a constraint on the
/// flat index n.
struct Constraint {
  Int period;
  Int lo;
  Int hi;
  bool holds(Int n) const {
    const Int r = n % period;
    return lo <= r && r < hi;
  }
};
using Constraints = InlineVector<Constraint, 8>;

enum class BoxVerdict { Box, Nothing, No, Unknown };

/// Decides whether the points of `walk` that satisfy all constraints form a box. On Box, cuts `walk` to it and stores
/// its lowest corner, in the coordinates of the original walk, in `start`. Box, Nothing (no valid point) and No (the
/// valid points form no box) are exact. Unknown means that a search exceeded its budget.
BoxVerdict find_valid_box(Walk& walk, IntList& start, const Constraints& constraints);

/// Cuts from the ends of each axis positions at which no point is valid; false if nothing is left. Sound: removes only
/// invalid points.
bool trim(Walk& walk, IntList& start, const Constraints& constraints);

/// True only if it is proved that the constraint holds on the whole box.
bool always_holds(const Walk& walk, const Constraint& constraint);

}  // namespace oriel::detail
