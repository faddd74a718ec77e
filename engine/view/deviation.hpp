// How far a sum of carries is from the affine map that it starts as, and whether it ever leaves it.
#pragma once

#include <boost/container/small_vector.hpp>

#include "view/arc_search.hpp"

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
using CarryGroups = boost::container::small_vector<CarryGroup, 4>;

/// What the groups' sum has at x beyond the affine map through the origin and the unit vectors. Its terms may pass 64
/// bits.
Wide deviation(const CarryGroups& groups, const IntList& x);

/// Looks for a point of the box, of rank 1 or more, at which the groups' sum deviates. Yes and No are exact. Each line
/// and each event on it takes one of `steps`; with none left the answer is Unknown.
Found find_deviation(const IntList& extent, const CarryGroups& groups, Int& steps);

}  // namespace oriel::detail
