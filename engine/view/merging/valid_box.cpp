#include "view/merging/valid_box.hpp"

#include <algorithm>

#include "view/merging/arc_search.hpp"
#include "view/merging/merge.hpp"

namespace oriel::detail {
namespace {

/// A box of a walk: positions lo .. hi-1 of each axis.
struct Box {
  IntList lo;
  IntList hi;
};

/// The points of `walk` inside the box, as a walk of their own.
Walk part(const Walk& walk, const Box& box) {
  Walk result = walk;
  for (std::size_t d = 0; d < walk.rank(); ++d) {
    result.base += walk.step[d] * box.lo[d];
    result.extent[d] = box.hi[d] - box.lo[d];
  }
  return result;
}

/// Decides whether the valid set is a box, starting from one valid point. If it is a box, it is the product of the
/// valid intervals on the lines through that point. So it is a box exactly if all points of this product are valid and
/// no point outside it is.
class BoxAround {
 public:
  BoxAround(const Walk& walk, const Constraints& open) : walk_(walk), all_{IntList(walk.rank(), Int(0)), walk.extent} {
    for (const Constraint& c : open) {
      valid_.push_back({c.period, c.lo, c.hi - c.lo - 1});
      invalid_.push_back({c.period, c.hi, c.period - (c.hi - c.lo) - 1});
    }
  }

  BoxVerdict decide(Int& steps) {
    const Found found = find_point(walk_, valid_, point_, steps);
    if (found != Found::Yes) return found == Found::No ? BoxVerdict::Nothing : BoxVerdict::Unknown;
    grow();
    // First with few steps each: for most sets that are no box this suffices to show it.
    Int few = std::min(steps, Int(kFewSteps));
    steps -= few;
    BoxVerdict verdict = strays_on_lines(few) ? BoxVerdict::No : compare(few);
    steps += few;
    if (verdict == BoxVerdict::Unknown) verdict = compare(steps);
    return verdict;
  }

  const Box& box() const { return box_; }

 private:
  static constexpr std::int64_t kFewSteps = 256;

  /// Compares the valid set with box().
  BoxVerdict compare(Int& steps) const {
    const Found hole = invalid_inside(steps);
    if (hole == Found::Yes) return BoxVerdict::No;
    const Found stray = valid_outside(steps);
    if (stray == Found::Yes) return BoxVerdict::No;
    return hole == Found::No && stray == Found::No ? BoxVerdict::Box : BoxVerdict::Unknown;
  }

  /// Grows the box from the point along each axis, in both directions, until a constraint fails.
  void grow() {
    box_ = all_;
    const Int n = walk_.value(point_);
    for (std::size_t d = 0; d < walk_.rank(); ++d) {
      for (const Arc& arc : invalid_) {
        const Int up = first_in_arc(walk_.step[d], n, arc.period, arc.from, arc.size);
        const Int down = first_in_arc(-walk_.step[d], n, arc.period, arc.from, arc.size);
        if (up >= 0 && up < box_.hi[d] - point_[d]) box_.hi[d] = point_[d] + up;
        if (down >= 0 && down <= point_[d] - box_.lo[d]) box_.lo[d] = point_[d] - down + 1;
      }
    }
  }

  bool strays_on_lines(Int& steps) const {
    for (std::size_t d = 0; d < walk_.rank(); ++d) {
      Box line{point_, point_};
      for (Int& hi : line.hi) hi += 1;
      if (valid_beside(line, d, steps) == Found::Yes) return true;
    }
    return false;
  }

  Found invalid_inside(Int& steps) const {
    Found result = Found::No;
    IntList x;
    for (const Arc& arc : invalid_) {
      const Found found = find_point(part(walk_, box_), {arc}, x, steps);
      if (found == Found::Yes) return found;
      if (found == Found::Unknown) result = found;
    }
    return result;
  }

  /// Searches for a valid point outside the box: for each axis, among the points outside the box along that axis and
  /// inside it along the earlier axes.
  Found valid_outside(Int& steps) const {
    Found result = Found::No;
    Box slab = all_;
    for (std::size_t d = 0; d < walk_.rank(); ++d) {
      const Found found = valid_beside(slab, d, steps);
      if (found == Found::Yes) return found;
      if (found == Found::Unknown) result = found;
      slab.lo[d] = box_.lo[d];
      slab.hi[d] = box_.hi[d];
    }
    return result;
  }

  /// Searches for a valid point in `slab` whose position on axis d is outside the box.
  Found valid_beside(Box slab, std::size_t d, Int& steps) const {
    Found result = Found::No;
    IntList x;
    for (const bool above : {false, true}) {
      slab.lo[d] = above ? box_.hi[d] : Int(0);
      slab.hi[d] = above ? walk_.extent[d] : box_.lo[d];
      if (slab.lo[d] >= slab.hi[d]) continue;
      const Found found = find_point(part(walk_, slab), valid_, x, steps);
      if (found == Found::Yes) return found;
      if (found == Found::Unknown) result = found;
    }
    return result;
  }

  const Walk& walk_;
  const Box all_;
  Arcs valid_;
  Arcs invalid_;
  IntList point_;
  Box box_;
};

}  // namespace

BoxVerdict find_valid_box(Walk& walk, IntList& start, const Constraints& constraints) {
  start.assign(walk.rank(), Int(0));
  if (constraints.empty()) return BoxVerdict::Box;
  if (!trim(walk, start, constraints)) return BoxVerdict::Nothing;
  Constraints open;
  for (const Constraint& c : constraints) {
    if (!always_holds(walk, c)) open.push_back(c);
  }
  if (open.empty()) return BoxVerdict::Box;
  Int steps = kSearchBudget;
  BoxAround around(walk, open);
  const BoxVerdict verdict = around.decide(steps);
  count_steps(Int(kSearchBudget) - steps);
  if (verdict != BoxVerdict::Box) return verdict;
  for (std::size_t d = 0; d < walk.rank(); ++d) start[d] += around.box().lo[d];
  walk = part(walk, around.box());
  return verdict;
}

}  // namespace oriel::detail
