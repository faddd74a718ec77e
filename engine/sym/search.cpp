// Values that satisfy conditions, or a proof by cases that there are none.
#include <algorithm>

#include "sym/build.hpp"
#include "sym/program.hpp"
#include "sym/refute.hpp"

namespace oriel::sym {
namespace {

// Splitting stops here; beyond, sums and products soon leave an int64.
constexpr std::int64_t kFarthest = std::int64_t(1) << 40;
constexpr int kMaxUnboundedBoxes = 48;
constexpr std::size_t kMaxTrials = 1500;

bool satisfied(std::span<const Outcome> outcomes) {
  return std::ranges::all_of(outcomes, [](const Outcome& outcome) { return outcome.is(1); });
}

std::vector<std::int64_t> trial_values(Interval bounds, std::int64_t start, std::int64_t radius) {
  std::vector<std::int64_t> values;
  const auto offer = [&](std::int64_t value) {
    if (bounds.contains(value) && std::ranges::find(values, value) == values.end()) values.push_back(value);
  };
  for (std::int64_t step = 0; step <= radius; ++step) {
    offer(start + step);
    offer(start - step);
  }
  for (std::int64_t step = 0; step <= std::min<std::int64_t>(radius, 3); ++step) {
    if (bounds.has_lo()) offer(bounds.lo + step);
    if (bounds.has_hi()) offer(bounds.hi - step);
  }
  if (radius > 4) {
    for (const std::int64_t factor : {2, 3, 4, 8, 50, 1000}) offer(start * factor);
    for (const std::int64_t value : {0, 1, 2, 3, 4, 5, 6, 7, 8, -1, -2}) offer(value);
  }
  return values;
}

class NearSearch {
 public:
  NearSearch(std::span<const Expr> conditions, std::span<const std::int64_t> start)
      : program_(conditions), values_(start.begin(), start.end()) {}

  Search run() {
    Search result;
    result.variables = program_.variables();
    if (vary(0, 0) || vary(1, 12) || vary(2, 5) || vary(3, 2)) {
      result.verdict = Search::Verdict::found;
      result.values = values_;
    }
    return result;
  }

 private:
  // Changes up to `count` variables; those from `first` on.
  bool vary(int count, std::int64_t radius, std::size_t first = 0) {
    if (count == 0) return ++trials_ <= kMaxTrials && satisfied(program_.run(values_));
    for (std::size_t k = first; k < values_.size(); ++k) {
      const std::int64_t start = values_[k];
      for (const std::int64_t value : trial_values(program_.variables()[k]->bounds, start, radius)) {
        values_[k] = value;
        if (vary(count - 1, radius, k + 1)) return true;
        if (trials_ > kMaxTrials) break;
      }
      values_[k] = start;
    }
    return false;
  }

  Program program_;
  std::vector<std::int64_t> values_;
  std::size_t trials_ = 0;
};

using Box = std::vector<Interval>;

class BoxSearch {
 public:
  explicit BoxSearch(std::span<const Expr> conditions) : conditions_(conditions), program_(conditions) {
    for (const Expr condition : conditions) {
      Use use;
      for (const Expr variable : variables_of(condition)) {
        use.variables.push_back(
            std::size_t(std::ranges::find(program_.variables(), variable) - program_.variables().begin()));
      }
      visit(condition, [&](Expr node) {
        use.linear &= node->is_variable() || node->is_constant() || node->kind == Kind::sum || node->is_condition();
      });
      uses_.push_back(std::move(use));
    }
  }

  Search run(int budget) {
    Search result;
    result.variables = program_.variables();
    std::vector<Box> open(1);
    for (const Expr variable : result.variables) open[0].push_back(variable->bounds);
    while (!open.empty()) {
      if (--budget < 0) return result;
      const Box box = std::move(open.back());
      open.pop_back();
      const auto ranges = program_.ranges(box);
      if (std::ranges::any_of(ranges, [](Interval truth) { return truth.hi == 0; })) continue;
      const std::size_t widest = side_to_split(box, ranges);
      if (widest == box.size()) {
        std::vector<std::int64_t> values;
        for (const Interval side : box) values.push_back(side.lo);
        const auto outcomes = program_.run(values);
        if (satisfied(outcomes)) {
          result.verdict = Search::Verdict::found;
          result.values = values;
          return result;
        }
        if (std::ranges::any_of(outcomes, [](const Outcome& o) { return o.fault == Outcome::Fault::overflow; }))
          return result;
        continue;
      }
      const bool unbounded = !box[widest].has_lo() || !box[widest].has_hi();
      if (unbounded && ++unbounded_boxes_ > kMaxUnboundedBoxes) return result;
      if (unbounded && refuted_in(box)) continue;
      if (!split(box, widest, open)) return result;
    }
    result.verdict = Search::Verdict::none;
    return result;
  }

 private:
  struct Use {
    std::vector<std::size_t> variables;
    bool linear = true;
  };

  // Of the sides that open conditions use, those first that are not linear: the least split one without a bound, else
  // the longest. The count of sides where all are points.
  std::size_t side_to_split(const Box& box, std::span<const Interval> truths) const {
    std::vector<int> rank(box.size(), 0);
    for (std::size_t k = 0; k < uses_.size(); ++k) {
      if (truths[k].is_point()) continue;
      for (const std::size_t variable : uses_[k].variables)
        rank[variable] = std::max(rank[variable], uses_[k].linear ? 1 : 2);
    }
    std::size_t best = box.size();
    const auto better = [&](std::size_t a, std::size_t b) {
      if (rank[a] != rank[b]) return rank[a] > rank[b];
      const bool unbounded = !box[a].has_lo() || !box[a].has_hi();
      if (unbounded != (!box[b].has_lo() || !box[b].has_hi())) return unbounded;
      if (unbounded) return nearest(box[a]) < nearest(box[b]);
      return std::uint64_t(box[a].hi) - std::uint64_t(box[a].lo) > std::uint64_t(box[b].hi) - std::uint64_t(box[b].lo);
    };
    for (std::size_t k = 0; k < box.size(); ++k) {
      if (!box[k].is_point() && (best == box.size() || better(k, best))) best = k;
    }
    return best;
  }

  // How far from 0 an unbounded side starts.
  static std::int64_t nearest(Interval side) {
    if (side.has_lo()) return std::max<std::int64_t>(side.lo, 0);
    return side.has_hi() ? std::max<std::int64_t>(-side.hi, 0) : -1;
  }

  // With the box as the bounds of its variables more is decided than by ranges alone.
  bool refuted_in(const Box& box) const {
    Replacements replacements;
    for (std::size_t k = 0; k < box.size(); ++k) {
      const Expr variable = program_.variables()[k];
      replacements[variable] = box[k].is_point() ? variable->pool->constant(box[k].lo)
                                                 : variable->pool->symbol(variable->name, box[k], variable->value);
    }
    std::vector<Expr> within;
    for (const Expr condition : conditions_) {
      within.push_back(substitute(condition, replacements));
      if (within.back()->kind == Kind::truth && within.back()->value == 0) return true;
    }
    return contradicts(within, 12);
  }

  static bool split(const Box& box, std::size_t side, std::vector<Box>& open) {
    const Interval whole = box[side];
    std::int64_t cut = 0;  // the last of the lower part
    if (whole.has_lo() && whole.has_hi()) {
      cut = whole.lo + static_cast<std::int64_t>((std::uint64_t(whole.hi) - std::uint64_t(whole.lo)) / 2);
    } else if (whole.has_lo()) {
      if (whole.lo > kFarthest) return false;
      cut = std::max(whole.lo + 7, 2 * whole.lo);
    } else if (whole.has_hi()) {
      if (whole.hi < -kFarthest) return false;
      cut = std::min(whole.hi - 8, 2 * whole.hi);
    } else {
      cut = -1;
    }
    // The part nearer to 0 goes last, which is next: an answer is there more often.
    Box lower = box;
    Box upper = box;
    lower[side].hi = cut;
    upper[side].lo = cut + 1;
    const bool up = whole.has_lo();
    open.push_back(up ? std::move(upper) : std::move(lower));
    open.push_back(up ? std::move(lower) : std::move(upper));
    return true;
  }

  std::span<const Expr> conditions_;
  Program program_;
  std::vector<Use> uses_;
  int unbounded_boxes_ = 0;
};

}  // namespace

Search search_near(std::span<const Expr> conditions, std::span<const std::int64_t> start) {
  return NearSearch(conditions, start).run();
}

Search search_boxes(std::span<const Expr> conditions, int budget) {
  for (const Expr condition : conditions) {
    if (condition->kind == Kind::truth && condition->value == 0) return {Search::Verdict::none, {}, {}};
  }
  return BoxSearch(conditions).run(budget);
}

}  // namespace oriel::sym
