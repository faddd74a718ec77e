#include "view/valid_box.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

#include "view/merge.hpp"

namespace oriel::detail {
namespace {

bool all_hold(const Constraints& constraints, Int n) {
  return std::all_of(constraints.begin(), constraints.end(), [n](const Constraint& c) { return c.holds(n); });
}

/// A point whose value modulo `period` lies in the arc of size+1 residues from `from` on, found greedily: the axes with
/// the widest residues first, each assuming that the rest can reach anything in their span.
std::optional<IntList> seek(const Walk& walk, Int period, Int from, Int size) {
  IntList residue;
  balanced_residues(walk.step, period, residue);
  boost::container::small_vector<std::size_t, 8> order(walk.rank());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return detail::abs(residue[a]) > detail::abs(residue[b]); });
  IntList point(walk.rank(), Int(0));
  Int reached = walk.base;
  Span rest = span_of(residue, walk.extent);
  for (const std::size_t d : order) {
    rest = span_without(rest, residue[d], walk.extent[d]);
    const Int x = first_in_arc(residue[d], reached, period, from - rest.greatest, size + rest.greatest - rest.least);
    if (x < 0 || x >= walk.extent[d]) return std::nullopt;
    point[d] = x;
    reached += residue[d] * x;
  }
  return point;
}

/// Looks for an invalid point in the hull of valid ones, which shows that the valid set is no box. It looks at few
/// points: what it does not find, the enumeration decides.
class HoleSearch {
 public:
  HoleSearch(const Walk& walk, const Constraints& all, const Constraints& open) : walk_(walk), all_(all), open_(open) {}

  bool found() {
    look_at_corners();
    look_for_residues();
    if (bad_in_hull() || line_leaves()) return true;
    look_towards_valid();
    return bad_in_hull() || line_leaves();
  }

 private:
  struct Point {
    IntList x;
    Int n;
  };
  using Points = boost::container::small_vector<Point, 8>;

  void look_at(IntList x) {
    const Int n = walk_.value(x);
    if (!all_hold(all_, n)) {
      bad_.push_back({std::move(x), n});
      return;
    }
    if (good_.empty()) least_ = greatest_ = x;
    for (std::size_t d = 0; d < x.size(); ++d) {
      least_[d] = std::min(least_[d], x[d]);
      greatest_[d] = std::max(greatest_[d], x[d]);
    }
    good_.push_back({std::move(x), n});
  }

  /// The lowest and the highest corner and those next to them.
  void look_at_corners() {
    const IntList low(walk_.rank(), Int(0));
    IntList high = low;
    for (std::size_t d = 0; d < walk_.rank(); ++d) high[d] = walk_.extent[d] - 1;
    look_at(low);
    look_at(high);
    for (std::size_t d = 0; d < walk_.rank(); ++d) {
      IntList above_low = low;
      IntList below_high = high;
      std::swap(above_low[d], below_high[d]);
      look_at(std::move(above_low));
      look_at(std::move(below_high));
    }
  }

  /// A valid point of each constraint and an invalid one of each open one.
  void look_for_residues() {
    for (const Constraint& c : all_) {
      if (auto x = seek(walk_, c.period, c.lo % c.period, c.hi - c.lo - 1)) look_at(std::move(*x));
    }
    for (const Constraint& c : open_) {
      if (auto x = seek(walk_, c.period, c.hi % c.period, c.period - (c.hi - c.lo) - 1)) look_at(std::move(*x));
    }
  }

  /// From every invalid point along each axis, inwards, the nearest one at which an open constraint holds.
  void look_towards_valid() {
    for (std::size_t k = 0, known = bad_.size(); k < known; ++k) {
      for (std::size_t d = 0; d < walk_.rank(); ++d) {
        for (const Constraint& c : open_) {
          IntList x = bad_[k].x;
          const Int towards = x[d] * 2 < walk_.extent[d] ? 1 : -1;
          const Int hit = first_in_arc(towards * walk_.step[d], bad_[k].n, c.period, c.lo, c.hi - c.lo - 1);
          if (hit < 0) continue;
          x[d] += towards * hit;
          if (x[d] >= 0 && x[d] < walk_.extent[d]) look_at(std::move(x));
        }
      }
    }
  }

  bool bad_in_hull() const {
    if (good_.empty()) return false;
    return std::any_of(bad_.begin(), bad_.end(), [&](const Point& point) {
      for (std::size_t d = 0; d < point.x.size(); ++d) {
        if (point.x[d] < least_[d] || point.x[d] > greatest_[d]) return false;
      }
      return true;
    });
  }

  /// A line that starts at a valid point and meets an invalid residue before it leaves the hull.
  bool line_leaves() const {
    for (const Point& point : good_) {
      for (std::size_t d = 0; d < walk_.rank(); ++d) {
        for (const Int towards : {Int(1), Int(-1)}) {
          const Int room = towards > 0 ? greatest_[d] - point.x[d] : point.x[d] - least_[d];
          if (room <= 0) continue;
          for (const Constraint& c : open_) {
            const Int from = (c.hi - point.n) % c.period;
            const Int size = c.period - (c.hi - c.lo) - 1;
            const Int hit = first_hit(towards * walk_.step[d] % c.period, c.period, from, from + size);
            if (hit >= 0 && hit <= room) return true;
          }
        }
      }
    }
    return false;
  }

  const Walk& walk_;
  const Constraints& all_;
  const Constraints& open_;
  Points good_;
  Points bad_;
  IntList least_;
  IntList greatest_;
};

/// Theorem P for validity: along axis d the valid set repeats with period p, so that an interval seen on 2p points is
/// everything or nothing beyond them. Enumerates the axes that open constraints depend on, each cut to 2p.
BoxVerdict enumerate_valid(Walk& walk, IntList& start, const Constraints& open) {
  boost::container::small_vector<std::size_t, 8> axes;
  IntList reduced;
  Int total = 1;
  for (std::size_t d = 0; d < walk.rank(); ++d) {
    if (walk.extent[d] <= 1) continue;
    Int period = 1;
    for (const Constraint& c : open) {
      if (period >= walk.extent[d]) break;  // longer periods change nothing, and their product might overflow
      const Int p = period_along(c.period, walk.step[d]);
      period = period / gcd(period, p) * p;
    }
    if (period == 1) continue;
    axes.push_back(d);
    reduced.push_back(period < walk.extent[d] ? std::min(walk.extent[d], period * 2) : walk.extent[d]);
    total *= reduced.back();
    if (total > kEnumerationBudget) return BoxVerdict::Unknown;
  }
  count_enumeration(total);
  IntList least;
  IntList greatest;
  Int count = 0;
  for_each_point(reduced, [&](const IntList& x) {
    Int n = walk.base;
    for (std::size_t k = 0; k < axes.size(); ++k) n += walk.step[axes[k]] * x[k];
    if (!all_hold(open, n)) return true;
    if (count == 0) least = greatest = x;
    count += 1;
    for (std::size_t k = 0; k < axes.size(); ++k) {
      least[k] = std::min(least[k], x[k]);
      greatest[k] = std::max(greatest[k], x[k]);
    }
    return true;
  });
  if (count == 0) return BoxVerdict::Nothing;
  Int volume = 1;
  for (std::size_t k = 0; k < axes.size(); ++k) volume *= greatest[k] - least[k] + 1;
  if (volume != count) return BoxVerdict::No;
  for (std::size_t k = 0; k < axes.size(); ++k) {
    const std::size_t d = axes[k];
    if (reduced[k] < walk.extent[d]) {
      if (least[k] != 0 || greatest[k] != reduced[k] - 1) return BoxVerdict::No;
      continue;
    }
    walk.base += walk.step[d] * least[k];
    walk.extent[d] = greatest[k] - least[k] + 1;
    start[d] += least[k];
  }
  return BoxVerdict::Box;
}

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
  if (HoleSearch(walk, constraints, open).found()) return BoxVerdict::No;
  return enumerate_valid(walk, start, open);
}

}  // namespace oriel::detail
