// Number theory of carries: the values of n mod P and floor(n / W) while n runs over a box with a fixed step per axis.
#pragma once

#include "base/checked.hpp"
#include "oriel/shape.hpp"

namespace oriel::detail {

template <class N>
using NumberList = InlineVector<N, 8>;
using IntList = NumberList<Int>;

/// n(x) = base + sum of step[d] * x[d] over the box 0 <= x[d] < extent[d].
template <class N>
struct BasicWalk {
  N base;
  NumberList<N> step;
  NumberList<N> extent;
  std::size_t rank() const noexcept { return step.size(); }
  N value(const NumberList<N>& x) const {
    N n = base;
    for (std::size_t d = 0; d < step.size(); ++d) n += step[d] * x[d];
    return n;
  }
};
using Walk = BasicWalk<Int>;

/// slope * (extent - 1), clamped to [-period, period]. Beyond that the axis takes all residues modulo `period` anyway,
/// and the product might overflow.
Int reach_along(Int slope, Int extent, Int period);

/// The least and greatest value of a sum of slope[d] * x[d] over a box, with each axis's part clamped as in
/// reach_along. The span is exact if it is narrower than `period`; otherwise it is at least `period` wide.
struct Extremes {
  Int least = 0;
  Int greatest = 0;
};
Extremes extremes_of(const IntList& slope, const IntList& extent, Int period);
/// The span without the part of axis d.
Extremes extremes_without(Extremes span, Int slope, Int extent, Int period);

/// Theorem L: floor(n / cut) is affine on the walk's box exactly if the linear form of the remainder, whose slopes are
/// measured at the unit vectors, stays in [0, cut) at its extreme corners. Stores these slopes: n mod cut = base mod
/// cut + sum of slope
/// * x if the result is true.
bool carry_free(const Walk& walk, Int cut, IntList& slope);

/// Stores each step's residue modulo `period` that has the least magnitude.
void balanced_residues(const IntList& step, Int period, IntList& residue);

/// Least x >= 0 with lo <= step * x mod modulus <= hi, or -1 if there is none. 0 <= lo <= hi < modulus. A Euclid-like
/// descent: O(log modulus).
Int first_hit(Int step, Int modulus, Int lo, Int hi);

/// Least x >= 0 for which start + step * x falls, modulo `period`, into the arc of size+1 residues from `from` on; -1
/// if none.
Int first_in_arc(Int step, Int start, Int period, Int from, Int size);

/// The period of n mod `modulus` along an axis with this step.
inline Int period_along(Int modulus, Int step) { return modulus / gcd(modulus, step); }

/// Visits every point of the box in row-major order until `visit` returns false; false if it was stopped.
template <class Visit>
bool for_each_point(const IntList& extent, Visit visit) {
  IntList x(extent.size(), Int(0));
  while (true) {
    if (!visit(x)) return false;
    std::size_t d = extent.size();
    while (d > 0) {
      --d;
      x[d] += 1;
      if (x[d] < extent[d]) break;
      x[d] = 0;
      if (d == 0) return true;
    }
    if (extent.empty()) return true;
  }
}

}  // namespace oriel::detail
