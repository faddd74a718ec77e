#include "lang/index/solve.hpp"

#include <algorithm>
#include <numeric>

namespace oriel::lang {

using detail::ArithmeticOverflow;
using detail::Int;

namespace {

constexpr std::int64_t kMaxCombinations = std::int64_t{1} << 16;
constexpr std::int64_t kMaxWindow = std::int64_t{1} << 18;
constexpr std::int64_t kTrialReach = std::int64_t{1} << 16;
/// The same limit if each combination of the other variables' values needs a trial of its own.
constexpr std::int64_t kCombinedReach = std::int64_t{1} << 12;

void append(IntervalSet& set, Interval next) {
  if (next.empty()) return;
  if (!set.empty() && next.lo <= set.back().hi) {
    set.back().hi = std::max(set.back().hi, next.hi);
  } else {
    set.push_back(next);
  }
}

// The range of the linear expression without the term of `v`, both ends included.
std::pair<Int, Int> rest_bounds(const Linear& value, std::int32_t v, std::span<const Interval> box) {
  Int lo = value.constant;
  Int hi = value.constant;
  for (const auto& [variable, coefficient] : value.terms) {
    if (variable == v) continue;
    const Interval range = box[static_cast<std::size_t>(variable)];
    lo += Int(coefficient) * (coefficient > 0 ? range.lo : range.hi - 1);
    hi += Int(coefficient) * (coefficient > 0 ? range.hi - 1 : range.lo);
  }
  return {lo, hi};
}

// Thrown if this method has no answer; another method may have one.
struct Undecided {};

class Solver {
 public:
  Solver(const IndexTree& tree, std::int32_t variable, std::span<const Interval> box, Interval window, bool final,
         std::int64_t reach, Budget& budget)
      : tree_(tree), v_(variable), box_(box), window_(window), final_(final), reach_(reach), budget_(budget) {}

  // The values of `v` for which node `id` lies in `target` for every value of the other variables.
  IntervalSet within(std::int32_t id, Interval target) {
    if (target.empty()) return {};
    if (!endless(target.lo) || !endless(target.hi)) {
      const IndexNode& node = tree_.at(id);
      switch (node.kind) {
        case IndexKind::Linear:
          return linear(node.linear, target);
        case IndexKind::Div:
          return quotient(node, target);
        case IndexKind::Mod:
          return remainder(id, node, target);
        case IndexKind::Min:
          return intersect(both(node, at_least(target)), either(node, below(target)));
        case IndexKind::Max:
          return intersect(both(node, below(target)), either(node, at_least(target)));
        case IndexKind::Select: {
          // If the condition holds, the left branch must lie in the target; if not, the right branch.
          apart(node.condition, node.left);
          apart(node.condition, node.right);
          const IntervalSet yes = unite(within(node.condition, {0, 1}), within(node.left, target));
          return intersect(yes, unite(within(node.condition, {1, 2}), within(node.right, target)));
        }
        case IndexKind::Add:
        case IndexKind::Mul:
          return trial(id, target);
        default:
          return condition(node, target);
      }
    }
    return {Interval::all()};
  }

 private:
  static Interval at_least(Interval target) { return {target.lo, Interval::kHighest}; }
  static Interval below(Interval target) { return {Interval::kLowest, target.hi}; }

  IntervalSet both(const IndexNode& node, Interval target) {
    return intersect(within(node.left, target), within(node.right, target));
  }
  IntervalSet either(const IndexNode& node, Interval target) {
    if (endless(target.lo) && endless(target.hi)) return {Interval::all()};
    apart(node.left, node.right);
    return unite(within(node.left, target), within(node.right, target));
  }

  // "For all values, a or b" equals "for all values a, or for all values b" only if a and b share no free variable.
  // Throws Undecided if they do.
  void apart(std::int32_t a, std::int32_t b) const {
    const std::vector<std::int32_t> left = tree_.variables(a);
    const std::vector<std::int32_t> right = tree_.variables(b);
    for (const std::int32_t variable : left) {
      if (variable != v_ && std::binary_search(right.begin(), right.end(), variable)) throw Undecided();
    }
  }

  IntervalSet linear(const Linear& value, Interval target) const {
    if (value.coefficient(v_) != 0) {
      const Interval out = legal_interval(value, target, v_, box_);
      return out.empty() ? IntervalSet{} : IntervalSet{out};
    }
    const auto [lo, hi] = rest_bounds(value, v_, box_);
    const bool ok = (endless(target.lo) || lo >= target.lo) && (endless(target.hi) || hi < target.hi);
    return ok ? IntervalSet{Interval::all()} : IntervalSet{};
  }

  std::optional<std::int64_t> fixed(std::int32_t id) const {
    const IndexNode& node = tree_.at(id);
    if (node.kind != IndexKind::Linear || !node.linear.terms.empty()) return {};
    return node.linear.constant;
  }

  IntervalSet quotient(const IndexNode& node, Interval target) {
    const std::optional<std::int64_t> divisor = fixed(node.right);
    if (!divisor || *divisor == 0) throw Undecided();
    const Int c = *divisor;
    Interval inner = Interval::all();
    if (c > 0) {
      if (!endless(target.lo)) inner.lo = (c * target.lo).value();
      if (!endless(target.hi)) inner.hi = (c * target.hi).value();
    } else {  // floor(e / c) >= q iff e <= c q; < q iff e > c q
      if (!endless(target.lo)) inner.hi = (c * target.lo + 1).value();
      if (!endless(target.hi)) inner.lo = (c * target.hi + 1).value();
    }
    return within(node.left, inner);
  }

  IntervalSet remainder(std::int32_t id, const IndexNode& node, Interval target) {
    const std::optional<std::int64_t> divisor = fixed(node.right);
    if (!divisor || *divisor == 0) return trial(id, target);
    const std::int64_t m = *divisor < 0 ? (-Int(*divisor)).value() : *divisor;
    const Interval inside{std::max<std::int64_t>(target.lo, 0), std::min(target.hi, m)};
    if (inside.lo == 0 && inside.hi == m) return {Interval::all()};
    if (inside.empty()) return {};
    const IndexNode& inner = tree_.at(node.left);
    if (inner.kind != IndexKind::Linear) return trial(id, target);
    for (const Linear::Term& term : inner.linear.terms) {
      if (term.first != v_) throw Undecided();
    }
    const std::int64_t a = inner.linear.coefficient(v_);
    if (a == 0) {
      const std::int64_t rest = (Int(inner.linear.constant) % Int(m)).value();
      return inside.lo <= rest && rest < inside.hi ? IntervalSet{Interval::all()} : IntervalSet{};
    }
    const std::int64_t period = m / std::gcd(a, m);
    Interval tried = window_;
    if (!window_.bounded()) {
      tried = {0, period};
      if (period > kMaxWindow) throw Undecided();
    } else if ((Int(window_.hi) - window_.lo) > kMaxWindow) {
      // Two whole periods suffice to show whether the values form an interval.
      if (period > kMaxWindow / 2) throw Undecided();
      tried.hi = (Int(window_.lo) + Int(period) * 2).value();
    }
    if (!budget_.take((Int(tried.hi) - tried.lo).value())) throw Undecided();
    IntervalSet out;
    for (std::int64_t value = tried.lo; value < tried.hi; ++value) {
      const std::int64_t rest = ((Int(a) * value + inner.linear.constant) % Int(m)).value();
      if (inside.lo <= rest && rest < inside.hi) append(out, {value, value + 1});
    }
    if (!window_.bounded()) return out.empty() ? out : IntervalSet{Interval::all()};
    return out;
  }

  IntervalSet condition(const IndexNode& node, Interval target) {
    // Conditions are 0 or 1.
    const bool zero = target.lo <= 0 && target.hi > 0;
    const bool one = target.lo <= 1 && target.hi > 1;
    if (zero && one) return {Interval::all()};
    if (!zero && !one) return {};
    switch (node.kind) {
      case IndexKind::Not:
        return within(node.left, one ? Interval{0, 1} : Interval{1, 2});
      case IndexKind::And:
        return one ? both(node, {1, 2}) : either(node, {0, 1});
      case IndexKind::Or:
        return one ? either(node, {1, 2}) : both(node, {0, 1});
      default:
        return comparison(node, one);
    }
  }

  IntervalSet comparison(const IndexNode& node, bool holds) {
    const IndexNode& a = tree_.at(node.left);
    const IndexNode& b = tree_.at(node.right);
    if (a.kind == IndexKind::Linear && b.kind == IndexKind::Linear) {
      const Linear difference = add(b.linear, a.linear, -1);
      if (node.kind == IndexKind::Less) {
        return linear(difference, holds ? Interval{1, Interval::kHighest} : Interval{Interval::kLowest, 1});
      }
      if (holds) return linear(difference, {0, 1});
      for (const Linear::Term& term : difference.terms) {
        if (term.first != v_) throw Undecided();
      }
      return unite(linear(difference, {Interval::kLowest, 0}), linear(difference, {1, Interval::kHighest}));
    }
    const std::optional<std::int64_t> x = fixed(node.left);
    const std::optional<std::int64_t> y = fixed(node.right);
    if (node.kind == IndexKind::Less && y) {
      return within(node.left, holds ? Interval{Interval::kLowest, *y} : Interval{*y, Interval::kHighest});
    }
    if (node.kind == IndexKind::Less && x) {
      const std::int64_t after = (Int(*x) + 1).value();
      return within(node.right, holds ? Interval{after, Interval::kHighest} : Interval{Interval::kLowest, after});
    }
    if (node.kind == IndexKind::Equal && holds && (x || y)) {
      const std::int64_t wanted = y ? *y : *x;
      return within(y ? node.left : node.right, {wanted, (Int(wanted) + 1).value()});
    }
    throw Undecided();
  }

  // Tries value by value; no other variable may be free. An unbounded window is cut.
  IntervalSet trial(std::int32_t id, Interval target) {
    for (const std::int32_t variable : tree_.variables(id)) {
      if (variable != v_) throw Undecided();
    }
    Interval tried = window_;
    const bool cut_lo = endless(tried.lo);
    const bool cut_hi = endless(tried.hi);
    if (cut_lo) tried.lo = cut_hi ? -reach_ : (Int(tried.hi) - 2 * reach_).value();
    if (cut_hi) tried.hi = (Int(tried.lo) + 2 * reach_).value();
    if (Int(tried.hi) - tried.lo > kMaxWindow || !budget_.take((Int(tried.hi) - tried.lo).value())) throw Undecided();
    IntervalSet out;
    std::vector<std::int64_t> values(static_cast<std::size_t>(v_) + 1, 0);
    for (std::int64_t value = tried.lo; value < tried.hi; ++value) {
      values.back() = value;
      std::int64_t result = 0;
      try {
        result = tree_.evaluate(id, values);
      } catch (const ArithmeticOverflow&) {
        continue;  // far out of bounds
      }
      if (target.lo <= result && (result < target.hi || endless(target.hi))) append(out, {value, value + 1});
    }
    if (cut_lo && beyond(!out.empty() && out.front().lo < tried.lo + reach_ / 16)) {
      out = unite(out, {{Interval::kLowest, tried.lo}});
    }
    if (cut_hi && beyond(!out.empty() && out.back().hi > tried.hi - reach_ / 16)) {
      out = unite(out, {{tried.hi, Interval::kHighest}});
    }
    return out;
  }

  // True if values beyond a cut end count as legal.
  bool beyond(bool legal_near) const { return !final_ || legal_near; }

  const IndexTree& tree_;
  std::int32_t v_;
  std::span<const Interval> box_;
  Interval window_;
  bool final_;
  std::int64_t reach_;
  Budget& budget_;
};

// True if the node is a polynomial in which each variable except `v` occurs at most to the first power in each term.
// Its extremes over a box are then at the corners.
bool multilinear(const IndexTree& tree, std::int32_t id, std::int32_t v) {
  const IndexNode& node = tree.at(id);
  if (node.kind == IndexKind::Linear) return true;
  if (node.kind == IndexKind::Add) return multilinear(tree, node.left, v) && multilinear(tree, node.right, v);
  if (node.kind != IndexKind::Mul) return false;
  const std::vector<std::int32_t> left = tree.variables(node.left);
  const std::vector<std::int32_t> right = tree.variables(node.right);
  for (const std::int32_t variable : left) {
    if (variable != v && std::binary_search(right.begin(), right.end(), variable)) return false;
  }
  return multilinear(tree, node.left, v) && multilinear(tree, node.right, v);
}

/// Tries every combination of values of the other variables, or only the corners of the box if these decide.
std::optional<IntervalSet> by_combinations(const IndexTree& tree, Interval target, std::int32_t v,
                                           std::span<const Interval> box, Interval window, bool final, Budget& budget) {
  std::vector<std::int32_t> others = tree.variables();
  others.erase(std::remove(others.begin(), others.end(), v), others.end());
  if (others.empty()) return {};
  const bool corners = multilinear(tree, tree.root(), v);
  std::vector<std::vector<std::int64_t>> choices;
  Int combinations = 1;
  for (const std::int32_t other : others) {
    const Interval range = box[static_cast<std::size_t>(other)];
    std::vector<std::int64_t> values;
    if (corners) {
      values.push_back(range.lo);
      if (range.hi - 1 != range.lo) values.push_back(range.hi - 1);
    } else {
      if (Int(range.hi) - range.lo > kMaxCombinations) return {};
      for (std::int64_t value = range.lo; value < range.hi; ++value) values.push_back(value);
    }
    combinations *= static_cast<std::int64_t>(values.size());
    if (combinations > kMaxCombinations) return {};
    choices.push_back(std::move(values));
  }
  if (!budget.take(combinations.value())) return {};
  std::vector<Interval> point(box.begin(), box.end());
  point[static_cast<std::size_t>(v)] = Interval::all();
  IntervalSet out{Interval::all()};
  for (std::int64_t k = 0; k < combinations.value() && !out.empty(); ++k) {
    std::int64_t rest = k;
    for (std::size_t d = 0; d < others.size(); ++d) {
      const auto count = static_cast<std::int64_t>(choices[d].size());
      const std::int64_t value = choices[d][static_cast<std::size_t>(rest % count)];
      point[static_cast<std::size_t>(others[d])] = {value, value + 1};
      rest /= count;
    }
    const IndexTree fixed = tree.substitute(point);
    try {
      out = intersect(out, Solver(fixed, v, point, window, final, kCombinedReach, budget).within(fixed.root(), target));
    } catch (const Undecided&) {
      return {};
    }
  }
  return out;
}

}  // namespace

IntervalSet intersect(const IntervalSet& a, const IntervalSet& b) {
  IntervalSet out;
  std::size_t i = 0;
  std::size_t k = 0;
  while (i < a.size() && k < b.size()) {
    append(out, {std::max(a[i].lo, b[k].lo), std::min(a[i].hi, b[k].hi)});
    if (a[i].hi < b[k].hi) {
      ++i;
    } else {
      ++k;
    }
  }
  return out;
}

IntervalSet unite(const IntervalSet& a, const IntervalSet& b) {
  IntervalSet all(a);
  all.insert(all.end(), b.begin(), b.end());
  std::sort(all.begin(), all.end(), [](Interval x, Interval y) { return x.lo < y.lo; });
  IntervalSet out;
  for (const Interval interval : all) append(out, interval);
  return out;
}

Interval legal_interval(const Linear& linear, Interval target, std::int32_t variable, std::span<const Interval> box) {
  const auto [lo, hi] = rest_bounds(linear, variable, box);
  const Int a = linear.coefficient(variable);
  Interval out = Interval::all();
  if (!endless(target.lo)) {  // a v >= bound
    const Int bound = Int(target.lo) - lo;
    if (a > 0) {
      out.lo = ceil_div(bound, a).value();
    } else {
      out.hi = (bound / a + 1).value();
    }
  }
  if (!endless(target.hi)) {  // a v <= bound
    const Int bound = Int(target.hi) - hi - 1;
    if (a > 0) {
      out.hi = (bound / a + 1).value();
    } else {
      out.lo = ceil_div(bound, a).value();
    }
  }
  return out;
}

std::optional<IntervalSet> legal_values(const IndexTree& tree, Interval target, std::int32_t variable,
                                        std::span<const Interval> box, Interval window, bool final, Budget& budget) {
  try {
    return Solver(tree, variable, box, window, final, kTrialReach, budget).within(tree.root(), target);
  } catch (const Undecided&) {
    return by_combinations(tree, target, variable, box, window, final, budget);
  }
}

}  // namespace oriel::lang
