// The set of walk points at which an inner view's mask holds: is it a box, and which?
#pragma once

#include <boost/container/small_vector.hpp>

#include "view/carry.hpp"

namespace oriel::detail {

/// n mod period lies in [lo, hi). Every masked block of an inner view is one of these on the flat index n.
struct Constraint {
  Int period;
  Int lo;
  Int hi;
  bool holds(Int n) const {
    const Int r = n % period;
    return lo <= r && r < hi;
  }
};
using Constraints = boost::container::small_vector<Constraint, 8>;

enum class BoxVerdict { Box, Nothing, No, Unknown };

/// Decides whether the points of `walk` that satisfy all constraints form a box. On Box, `walk` is cut to it and
/// `start` receives its lowest corner in the given walk's coordinates. Box, Nothing (no valid point) and No (valid
/// points that are no box) are exact; Unknown where the searches for such points pass the budget.
BoxVerdict find_valid_box(Walk& walk, IntList& start, const Constraints& constraints);

/// Cuts from the ends of each axis what no point can satisfy; false if nothing is left. Sound: only invalid points go.
bool trim(Walk& walk, IntList& start, const Constraints& constraints);

/// True only if the constraint is proved on the whole box.
bool always_holds(const Walk& walk, const Constraint& constraint);

}  // namespace oriel::detail
