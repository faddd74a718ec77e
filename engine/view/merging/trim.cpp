#include <algorithm>

#include "view/merging/valid_box.hpp"

namespace oriel::detail {
namespace {

// The box is narrowed in at most this many rounds. A box that is not the smallest is no fault: the later steps are
// exact.
constexpr int kRounds = 8;

/// The range of one axis that may satisfy the constraint.
struct Slab {
  Int lo;
  Int hi;
};

/// Narrows `slab` by the residues that axis d takes while all other axes are free. False if none of them is valid.
bool trim_by_residues(const Walk& walk, std::size_t d, const Constraint& c, Extremes others, Slab& slab) {
  const Int from = c.lo - others.greatest;
  const Int size = c.hi - 1 - others.least - from;
  if (size >= c.period - 1) return true;
  const Int first = first_in_arc(walk.step[d], walk.base, c.period, from, size);
  if (first < 0 || first >= walk.extent[d]) return false;
  const Int last = first_in_arc(-walk.step[d], walk.base + walk.step[d] * (walk.extent[d] - 1), c.period, from, size);
  slab.lo = std::max(slab.lo, first);
  slab.hi = std::min(slab.hi, walk.extent[d] - last);
  return true;
}

/// Narrows `slab` in the case that n mod period is affine with this slope along axis d: lo <= start + slope * x +
/// others < hi.
void trim_by_line(Int start, Int slope, const Constraint& c, Extremes others, Slab& slab) {
  const Int least = c.lo - start - others.greatest;
  const Int greatest = c.hi - 1 - start - others.least;
  const Int first = slope > 0 ? ceil_div(least, slope) : ceil_div(greatest, slope);
  const Int last = slope > 0 ? greatest / slope : least / slope;
  slab.lo = std::max(slab.lo, first);
  slab.hi = std::min(slab.hi, last + 1);
}

enum class Trimmed { Same, Smaller, Nothing };

Trimmed trim_by(Walk& walk, IntList& start, const Constraint& c) {
  IntList slope;
  bool affine = carry_free(walk, c.period, slope);
  Extremes slope_span = affine ? extremes_of(slope, walk.extent, c.period) : Extremes{};
  if (affine) {
    const Int r = walk.base % c.period;
    if (r + slope_span.least >= c.lo && r + slope_span.greatest < c.hi) return Trimmed::Same;
  }
  IntList residue;
  balanced_residues(walk.step, c.period, residue);
  Extremes span = extremes_of(residue, walk.extent, c.period);
  // All residues of the box lie in one arc. No point is valid if that arc lies in the invalid arc.
  if ((walk.base + span.least - c.hi) % c.period + span.greatest - span.least < c.period - (c.hi - c.lo)) {
    return Trimmed::Nothing;
  }
  bool smaller = false;
  for (std::size_t d = 0; d < walk.rank(); ++d) {
    Slab slab{0, walk.extent[d]};
    if (!trim_by_residues(walk, d, c, extremes_without(span, residue[d], walk.extent[d], c.period), slab))
      return Trimmed::Nothing;
    if (affine && slope[d] != 0) {
      trim_by_line(walk.base % c.period, slope[d], c, extremes_without(slope_span, slope[d], walk.extent[d], c.period),
                   slab);
    }
    if (slab.hi <= slab.lo) return Trimmed::Nothing;
    if (slab.lo == 0 && slab.hi == walk.extent[d]) continue;
    smaller = true;
    walk.base += walk.step[d] * slab.lo;
    walk.extent[d] = slab.hi - slab.lo;
    start[d] += slab.lo;
    affine = carry_free(walk, c.period, slope);
    if (affine) slope_span = extremes_of(slope, walk.extent, c.period);
    span = extremes_of(residue, walk.extent, c.period);
  }
  return smaller ? Trimmed::Smaller : Trimmed::Same;
}

}  // namespace

bool trim(Walk& walk, IntList& start, const Constraints& constraints) {
  for (int round = 0; round < kRounds; ++round) {
    bool changed = false;
    for (const Constraint& c : constraints) {
      const Trimmed trimmed = trim_by(walk, start, c);
      if (trimmed == Trimmed::Nothing) return false;
      changed = changed || trimmed == Trimmed::Smaller;
    }
    if (!changed) break;
  }
  return true;
}

bool always_holds(const Walk& walk, const Constraint& c) {
  IntList slope;
  if (carry_free(walk, c.period, slope)) {
    const Int start = walk.base % c.period;
    const Extremes span = extremes_of(slope, walk.extent, c.period);
    return c.lo <= start + span.least && start + span.greatest < c.hi;
  }
  // Only residues congruent to base modulo g occur: widen the valid arc up to the next such residue on either side.
  balanced_residues(walk.step, c.period, slope);
  Int g = c.period;
  for (std::size_t d = 0; d < walk.rank(); ++d) {
    if (walk.extent[d] > 1) g = gcd(g, slope[d]);
  }
  const Int lo = c.lo - (c.lo - 1 - walk.base) % g;
  const Int hi = c.hi + (walk.base - c.hi) % g;
  if (hi - lo >= c.period) return true;
  const Extremes span = extremes_of(slope, walk.extent, c.period);
  if ((walk.base + span.least - lo) % c.period + (span.greatest - span.least) <= hi - 1 - lo) return true;
  // The constraint also holds if, along some axis, no residue of the line, widened by the span of the other axes, is
  // invalid.
  for (std::size_t d = 0; d < walk.rank(); ++d) {
    if (walk.extent[d] <= 1) continue;
    const Extremes others = extremes_without(span, slope[d], walk.extent[d], c.period);
    const Int from = (hi - others.greatest - walk.base) % c.period;
    const Int size = c.period - (hi - lo) - 1 + others.greatest - others.least;
    if (from + size >= c.period) continue;
    const Int hit = first_hit(walk.step[d] % c.period, c.period, from, from + size);
    if (hit < 0 || hit >= walk.extent[d]) return true;
  }
  return false;
}

}  // namespace oriel::detail
