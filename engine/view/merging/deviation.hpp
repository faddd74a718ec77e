// Whether a sum of carries deviates anywhere from the affine map that agrees with it at the origin and the unit
// vectors.
#pragma once

#include "oriel/inline_vector.hpp"
#include "view/merging/arc_search.hpp"

namespace oriel::detail {

__extension__ using Wide = __int128;

/// A multiple of floor((first + sum of step * x) / width), 0 <= first < width and 0 <= step < width.
struct CarryGroup {
  Int width;
  Int first;
  IntList step;
  Int coefficient;
  /// The carry at the unit vector of axis d: 0 or 1.
  Int unit(std::size_t d) const { return (first + step[d]) / width; }
};
using CarryGroups = InlineVector<CarryGroup, 4>;

/// The groups' sum at x minus the affine map through the origin and the unit vectors. In 128 bits, because its terms
/// may not fit 64.
Wide deviation(const CarryGroups& groups, const IntList& x);

/// Searches for a point of the box at which the groups' sum deviates. Precondition: rank >= 1. Yes and No are exact.
/// Each line and each event on it consumes one of `steps`; when none is left, the answer is Unknown.
Found find_deviation(const IntList& extent, const CarryGroups& groups, Int& steps);

}  // namespace oriel::detail
