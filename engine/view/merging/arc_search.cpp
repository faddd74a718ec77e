#include "view/merging/arc_search.hpp"

#include <algorithm>

#include "oriel/inline_vector.hpp"

namespace oriel::detail {
namespace {

// Most searches end within this many steps.
constexpr std::int64_t kFewSteps = 256;

double as_double(Int n) { return static_cast<double>(n.value()); }

/// A depth-first search that fixes the position on one axis after the other. The remaining axes can change n modulo a
/// period only by an amount within the span of their residues of least magnitude. So it suffices to try positions at
/// which n, with the remaining axes at 0, falls into the arc widened by that span. first_in_arc jumps from one such
/// position to the next, so no solution is missed. At the last axis the span is 0 and the arcs are exact.
class ArcSearch {
 public:
  ArcSearch(const Walk& walk, const Arcs& arcs, IntList& x, Int& steps)
      : walk_(walk), arcs_(arcs), x_(x), steps_(steps) {
    x_.assign(walk.rank(), Int(0));
    for (std::size_t d = 0; d < walk.rank(); ++d) {
      if (walk.extent[d] > 1) add_level(d);
    }
    order_levels();
  }

  Found run() {
    if (descend(0, walk_.base)) return Found::Yes;
    return steps_ > 0 ? Found::No : Found::Unknown;
  }

 private:
  struct Level {
    std::size_t axis;
    Int extent;
    IntList reach;   // for each arc: how far the axis moves n modulo the arc's period
    IntList period;  // for each arc: the common period of the arcs up to it
    Arcs widened;
  };
  using Levels = InlineVector<Level, 4>;

  /// The residues that an axis takes modulo all arcs repeat with the least common multiple of their periods. Modulo one
  /// arc they are multiples of a divisor g of its period; the largest is period - g.
  void add_level(std::size_t d) {
    Level level{d, walk_.extent[d], {}, {}, {}};
    Int period = 1;
    for (const Arc& arc : arcs_) {
      const Int r = walk_.step[d] % arc.period;
      const Int g = gcd(arc.period, r);
      level.reach.push_back(reach_along(r <= arc.period - r ? r : r - arc.period, walk_.extent[d], arc.period - g));
      if (period < level.extent) {  // longer periods have no effect, and their product might overflow
        const Int own = arc.period / g;
        period = period / gcd(period, own) * own;
      }
      level.period.push_back(period);
    }
    level.extent = std::min(level.extent, period);
    if (level.extent > 1) levels_.push_back(std::move(level));
  }

  /// The estimated share of all choices that `level` leaves to the levels before it, if residues were distributed
  /// evenly.
  double choices(const Level& level, const Arcs& wide) const {
    double least = 1;
    for (std::size_t a = 0; a < wide.size(); ++a) {
      const double met = as_double(wide[a].size) + as_double(abs(level.reach[a])) + 1;
      least = std::min(least, met / as_double(wide[a].period));
    }
    return least / as_double(level.extent);
  }

  /// Chooses the order of the levels greedily from the last one backwards: each time the axis that leaves the fewest
  /// choices to the levels before it.
  void order_levels() {
    Arcs wide = arcs_;
    for (std::size_t k = levels_.size(); k > 0; --k) {
      std::size_t best = 0;
      double least = choices(levels_[0], wide);
      for (std::size_t other = 1; other < k; ++other) {
        const double left = choices(levels_[other], wide);
        if (left >= least) continue;
        least = left;
        best = other;
      }
      std::swap(levels_[best], levels_[k - 1]);
      Level& level = levels_[k - 1];
      level.widened = wide;
      for (std::size_t a = 0; a < wide.size(); ++a) {
        if (level.reach[a] > 0) wide[a].from -= level.reach[a];
        wide[a].size += abs(level.reach[a]);
      }
    }
  }

  bool descend(std::size_t k, Int n) {
    if (k == levels_.size())
      return std::all_of(arcs_.begin(), arcs_.end(), [n](const Arc& arc) { return arc.holds(n); });
    const Level& level = levels_[k];
    const Int step = walk_.step[level.axis];
    for (Int& x = x_[level.axis] = 0; advance(level, step, n, x); x += 1) {
      if (descend(k + 1, n + step * x)) return true;
    }
    x_[level.axis] = 0;
    return false;
  }

  /// Moves x to the least position >= x at which all widened arcs hold. If a prefix of the arcs has not held together
  /// for a whole common period, it never does.
  bool advance(const Level& level, Int step, Int n, Int& x) {
    if (x >= level.extent) return false;
    IntList end;
    for (const Int period : level.period) end.push_back(x + period);
    for (std::size_t a = 0; a < arcs_.size();) {
      if (steps_ <= 0) return false;
      steps_ -= 1;
      const Arc& arc = level.widened[a];
      const Int hit = first_in_arc(step, n + step * x, arc.period, arc.from, arc.size);
      if (hit < 0 || hit >= level.extent - x) return false;
      if (hit == 0) {
        ++a;
        continue;
      }
      x += hit;
      for (std::size_t k = a; k < arcs_.size(); ++k) {
        if (x >= end[k]) return false;
      }
      for (std::size_t k = 0; k < a; ++k) end[k] = x + level.period[k];
      a = 0;
    }
    return true;
  }

  const Walk& walk_;
  const Arcs& arcs_;
  IntList& x_;
  Int& steps_;
  Levels levels_;
};

/// If n mod P lies in an arc, then n mod g lies in the arc's residues modulo g, for any divisor g of P. The useful
/// divisors are those that P shares with one or two steps: modulo them, some axes do not move n.
Arcs with_implied(const Walk& walk, const Arcs& arcs) {
  Arcs all = arcs;
  for (const Arc& arc : arcs) {
    for (std::size_t d = 0; d < walk.rank(); ++d) {
      for (std::size_t f = 0; f <= d; ++f) {
        const Int g = gcd(arc.period, gcd(walk.step[d], walk.step[f]));
        if (arc.size + 1 >= g || walk.extent[d] <= 1 || walk.extent[f] <= 1) continue;
        const Arc implied{g, arc.from % g, arc.size};
        const bool known = std::any_of(all.begin(), all.end(), [&](const Arc& other) {
          return other.period == g && other.size == arc.size && (other.from - arc.from) % g == 0;
        });
        if (!known) all.push_back(implied);
      }
    }
  }
  std::sort(all.begin(), all.end(), [](const Arc& a, const Arc& b) { return a.period < b.period; });
  return all;
}

}  // namespace

Found find_point(const Walk& walk, const Arcs& arcs, IntList& x, Int& steps) {
  Int few = std::min(steps, Int(kFewSteps));
  steps -= few;
  const Found soon = ArcSearch(walk, arcs, x, few).run();
  steps += few;
  if (soon != Found::Unknown || steps <= 0) return soon;
  const Arcs all = with_implied(walk, arcs);
  // Searches with the arcs of short periods first. If they alone exclude every point, this is faster than a search with
  // all arcs.
  for (std::size_t k = 1; k < all.size(); ++k) {
    const Arcs first(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(k));
    Int share = std::min(steps, Int(kFewSteps));
    steps -= share;
    const Found found = ArcSearch(walk, first, x, share).run();
    steps += share;
    if (found == Found::No) return found;
  }
  return ArcSearch(walk, all, x, steps).run();
}

}  // namespace oriel::detail
