// Searches values that satisfy conditions, or proves by cases that there are none.
#include <algorithm>

#include "oriel/error.hpp"
#include "sym/build.hpp"
#include "sym/program.hpp"
#include "sym/refute.hpp"

namespace oriel::sym {
namespace {

// Boxes are not split beyond this. Sums and products of larger numbers soon exceed an int64.
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
  // Numbers that do not fit 64 bits are left out.
  const auto offer_from = [&](std::int64_t from, std::int64_t factor, std::int64_t step) {
    std::int64_t value = 0;
    if (!__builtin_mul_overflow(from, factor, &value) && !__builtin_add_overflow(value, step, &value)) offer(value);
  };
  for (std::int64_t step = 0; step <= radius; ++step) {
    offer_from(start, 1, step);
    offer_from(start, 1, -step);
  }
  for (std::int64_t step = 0; step <= std::min<std::int64_t>(radius, 3); ++step) {
    if (bounds.has_lo()) offer_from(bounds.lo, 1, step);
    if (bounds.has_hi()) offer_from(bounds.hi, 1, -step);
  }
  if (radius > 4) {
    for (const std::int64_t factor : {2, 3, 4, 8, 50, 1000}) offer_from(start, factor, 0);
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
  // Changes at most `count` variables, starting with variable `first`.
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

using Sides = std::vector<Interval>;

struct Box {
  Sides sides;
  std::vector<int> splits;  // how often each side was split
};

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
        use.strict &= node->kind != Kind::select && !(node->is_condition() && !node->is_comparison());
        use.linear &= node->is_variable() || node->is_constant() || node->kind == Kind::sum || node->is_condition();
      });
      uses_.push_back(std::move(use));
    }
  }

  Search run(int budget) {
    Search result;
    result.variables = program_.variables();
    std::vector<Box> open(1);
    for (const Expr variable : result.variables) open[0].sides.push_back(variable->bounds);
    open[0].splits.resize(result.variables.size());
    while (!open.empty()) {
      if (--budget < 0) return result;
      const Box box = std::move(open.back());
      open.pop_back();
      const Sides& sides = box.sides;
      const auto ranges = program_.ranges(sides);
      if (std::ranges::any_of(ranges, [](Interval truth) { return truth.hi == 0; })) continue;
      const std::size_t widest = side_to_split(box, ranges);
      if (widest == sides.size()) {
        std::vector<std::int64_t> values;
        for (const Interval side : sides) values.push_back(side.lo);
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
      const bool unbounded = !sides[widest].has_lo() || !sides[widest].has_hi();
      if (unbounded && ++unbounded_boxes_ > kMaxUnboundedBoxes) return result;
      if (unbounded && refuted_in(sides)) continue;
      if (!split(box, widest, open)) return result;
    }
    result.verdict = Search::Verdict::none;
    return result;
  }

 private:
  struct Use {
    std::vector<std::size_t> variables;
    bool linear = true;
    bool strict = true;  // without a value if any part has none
  };

  // Chooses a side of the box that undecided conditions use, non-linear ones first, in turns. Returns the number of
  // sides if all are points.
  std::size_t side_to_split(const Box& box, std::span<const Interval> truths) const {
    const Sides& sides = box.sides;
    std::vector<int> rank(sides.size(), 0);
    for (std::size_t k = 0; k < uses_.size(); ++k) {
      if (truths[k].is_point()) continue;
      for (const std::size_t variable : uses_[k].variables) {
        rank[variable] = std::max(rank[variable], uses_[k].linear ? 1 : 2);
      }
    }
    const auto is_unbounded = [&](std::size_t k) { return !sides[k].has_lo() || !sides[k].has_hi(); };
    const auto width = [&](std::size_t k) { return std::uint64_t(sides[k].hi) - std::uint64_t(sides[k].lo); };
    const auto better = [&](std::size_t a, std::size_t b) {
      if (rank[a] != rank[b]) return rank[a] > rank[b];
      if (box.splits[a] != box.splits[b]) return box.splits[a] < box.splits[b];
      if (is_unbounded(a) != is_unbounded(b)) return is_unbounded(a);
      return !is_unbounded(a) && width(a) > width(b);
    };
    std::size_t best = sides.size();
    for (std::size_t k = 0; k < sides.size(); ++k) {
      if (!sides[k].is_point() && (best == sides.size() || better(k, best))) best = k;
    }
    return best;
  }

  // Uses the box as the bounds of its variables. This decides more conditions than ranges alone.
  bool refuted_in(const Sides& box) const {
    Replacements replacements;
    for (std::size_t k = 0; k < box.size(); ++k) {
      const Expr variable = program_.variables()[k];
      replacements[variable] = box[k].is_point() ? variable->pool->constant(box[k].lo)
                                                 : variable->pool->symbol(variable->name, box[k], variable->value);
    }
    std::vector<Expr> within;
    for (std::size_t k = 0; k < conditions_.size(); ++k) {
      try {
        within.push_back(substitute(conditions_[k], replacements));
      } catch (const ArgumentError&) {  // a divisor is 0 everywhere in the box
        if (uses_[k].strict) return true;
        continue;
      } catch (const OverflowError&) {
        continue;
      }
      if (within.back()->kind == Kind::truth && within.back()->value == 0) return true;
    }
    return contradicts(within, 12) || contradicts_by_residues(within);
  }

  static bool split(const Box& box, std::size_t side, std::vector<Box>& open) {
    const Interval whole = box.sides[side];
    std::int64_t cut = 0;  // the largest value of the lower part
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
    // The part nearer to 0 is pushed last, so it is searched next: it holds an answer more often.
    Box lower = box;
    Box upper = box;
    lower.sides[side].hi = cut;
    upper.sides[side].lo = cut + 1;
    ++lower.splits[side];
    ++upper.splits[side];
    if (!whole.has_lo()) std::swap(lower, upper);
    open.push_back(std::move(upper));
    open.push_back(std::move(lower));
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
