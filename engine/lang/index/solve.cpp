#include "lang/index/solve.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "oriel/error.hpp"
#include "sym/build.hpp"

namespace oriel::lang {

using detail::ArithmeticOverflow;
using detail::Int;
using sym::Kind;

namespace {

constexpr std::int64_t kMaxCombinations = std::int64_t{1} << 16;
constexpr std::int64_t kMaxWindow = std::int64_t{1} << 18;
constexpr std::int64_t kTrialReach = std::int64_t{1} << 16;
/// The same limit if each combination of the other loops' values needs a trial of its own.
constexpr std::int64_t kCombinedReach = std::int64_t{1} << 12;

constexpr Interval kEverything{};
constexpr Interval kFalse{0, 0};
constexpr Interval kTrue{1, 1};

void append(IntervalSet& set, Interval next) {
  if (next.empty()) return;
  if (!set.empty() && (!set.back().has_hi() || next.lo <= set.back().hi + 1)) {
    set.back().hi = std::max(set.back().hi, next.hi);
  } else {
    set.push_back(next);
  }
}

Int floor_of(Int a, Int b) { return a / b; }

/// slope * v + something that takes both ends of [lo, hi], whatever v is.
struct Affine {
  Int slope = 0;
  Int lo = 0;
  Int hi = 0;
};

// The values of v for which the expression lies in the target. Precondition: the slope is not 0.
Interval legal(const Affine& e, Interval target) {
  if (e.slope == 0) throw InternalError("comprehension", "a loop that an expression does not name has no range by it");
  Interval out;
  if (target.has_lo()) {  // slope * v >= bound
    const Int bound = Int(target.lo) - e.lo;
    (e.slope > 0 ? out.lo : out.hi) = (e.slope > 0 ? ceil_div(bound, e.slope) : floor_of(bound, e.slope)).value();
  }
  if (target.has_hi()) {  // slope * v <= bound
    const Int bound = Int(target.hi) - e.hi;
    (e.slope > 0 ? out.hi : out.lo) = (e.slope > 0 ? floor_of(bound, e.slope) : ceil_div(bound, e.slope)).value();
  }
  return out;
}

Affine affine_of(sym::Expr linear, std::int32_t v, std::span<const Interval> box) {
  const Linear parts(linear);
  Affine out{0, parts.constant(), parts.constant()};
  for (const auto [variable, coefficient] : parts) {
    if (variable == v) {
      out.slope = coefficient;
    } else {
      add_term(out.lo, out.hi, coefficient, box[static_cast<std::size_t>(variable)]);
    }
  }
  return out;
}

// Thrown if this method has no answer; another method may have one.
struct Undecided {};

/// What is known of expressions over a box, for any value of the loop `v`. A loop other than `v` whose interval in the
/// box holds one number counts as that number.
class BoxFacts {
 public:
  BoxFacts(std::int32_t variable, std::span<const Interval> box) : v_(variable), box_(box) {}

  std::int32_t variable() const { return v_; }
  /// The loops of the expression, in ascending order.
  const std::vector<std::int32_t>& loops(sym::Expr e) {
    const auto [found, fresh] = loops_.try_emplace(e);
    if (fresh) found->second = index_variables(e).loops;
    return found->second;
  }
  bool is_free(std::int32_t loop) const { return loop != v_ && !box_[static_cast<std::size_t>(loop)].is_point(); }
  bool shares_free_loop(sym::Expr a, sym::Expr b) {
    const std::vector<std::int32_t>& left = loops(a);
    const std::vector<std::int32_t>& right = loops(b);
    return std::ranges::any_of(
        left, [&](std::int32_t loop) { return is_free(loop) && std::ranges::binary_search(right, loop); });
  }
  bool names_v(sym::Expr e) { return std::ranges::binary_search(loops(e), v_); }
  bool has_free_loop(sym::Expr e) {
    return std::ranges::any_of(loops(e), [&](std::int32_t loop) { return is_free(loop); });
  }

  IndexValues& values_of(sym::Expr e) { return values_.try_emplace(e, e).first->second; }
  /// One value for each loop: the only one that it has in the box, or 0.
  std::vector<std::int64_t> point() const {
    std::vector<std::int64_t> out;
    for (const Interval range : box_) out.push_back(range.is_point() ? range.lo : 0);
    return out;
  }

  // The value of an expression in which all loops have one value and `v` does not occur.
  std::optional<Int> fixed(sym::Expr e) {
    if (e->is_constant()) return Int(e->value);
    if (names_v(e) || has_free_loop(e)) return {};
    const sym::Outcome found = values_of(e).outcome(point());
    if (found.fault == sym::Outcome::Fault::overflow) throw ArithmeticOverflow();
    if (found.fault != sym::Outcome::Fault::none) throw Undecided();
    return Int(found.value);
  }

  /// The affine form of a linear expression.
  Affine linear(sym::Expr e) const { return affine_of(e, v_, box_); }
  std::optional<Affine> affine(sym::Expr e) {
    if (is_linear(e)) return linear(e);
    if (const std::optional<Int> value = fixed(e)) return Affine{0, *value, *value};
    if (e->kind == Kind::sum) {
      Affine out{0, e->value, e->value};
      for (std::size_t k = 0; k < e->args.size(); ++k) {
        const std::optional<Affine> term = affine(e->args[k]);
        // The ends of two terms are reached together only if the terms share no free loop: one of them is a lone loop.
        if (!term || (e->args[k]->kind != Kind::loop && term->lo != term->hi)) return {};
        const Int c = e->coefficients[k];
        out.slope += c * term->slope;
        add_term(out.lo, out.hi, c, {term->lo.value(), term->hi.value()});
      }
      return out;
    }
    if (e->kind != Kind::product) return {};
    Int factor = 1;
    std::optional<Affine> out;
    for (const sym::Expr arg : e->args) {
      if (const std::optional<Int> value = fixed(arg)) {
        factor *= *value;
      } else if (out || !(out = affine(arg)) || out->lo != out->hi) {
        return {};
      }
    }
    if (out) *out = {out->slope * factor, out->lo * factor, out->lo * factor};
    return out;
  }

 private:
  std::int32_t v_;
  std::span<const Interval> box_;
  std::unordered_map<sym::Expr, std::vector<std::int32_t>> loops_;
  std::unordered_map<sym::Expr, IndexValues> values_;
};

Interval at_least(Interval target) { return {target.lo, Interval::kInfinity}; }
Interval at_most(Interval target) { return {Interval::kMinusInfinity, target.hi}; }

IntervalSet line(const Affine& e, Interval target) {
  if (e.slope == 0) return holds(target, {e.lo.value(), e.hi.value()}) ? IntervalSet{kEverything} : IntervalSet{};
  const Interval out = legal(e, target);
  return out.empty() ? IntervalSet{} : IntervalSet{out};
}

// The values of b for which floor(b / c) lies in the target.
Interval dividends(Int c, Interval target) {
  Interval out;
  if (c > 0) {
    if (target.has_lo()) out.lo = (c * target.lo).value();
    if (target.has_hi()) out.hi = (c * target.hi + c - 1).value();
  } else {  // floor(b / c) >= q iff b <= c q; < q iff b > c q
    if (target.has_lo()) out.hi = (c * target.lo).value();
    if (target.has_hi()) out.lo = (c * (Int(target.hi) + 1) + 1).value();
  }
  return out;
}

/// Finds the values of one loop, by the kind of an expression.
class Solver {
 public:
  Solver(std::int32_t variable, std::span<const Interval> box, Interval window, bool final, std::int64_t reach,
         Budget& budget)
      : facts_(variable, box), window_(window), final_(final), reach_(reach), budget_(budget) {}

  // The values of `v` for which `e` lies in `target` for every value of the other loops.
  IntervalSet within(sym::Expr e, Interval target) {
    if (target.empty()) return {};
    if (target == kEverything) return {kEverything};
    switch (e->kind) {
      case Kind::constant:
      case Kind::loop:
      case Kind::sum:
      case Kind::product:
        if (const std::optional<Affine> found = facts_.affine(e)) return line(*found, target);
        return e->kind == Kind::sum ? sum(e, target) : trial(e, target);
      case Kind::floor_div:
        return quotient(e, target);
      case Kind::mod:
        return remainder(e, target);
      case Kind::min:
        return intersect(all_of(e, at_least(target)), any_of(e, at_most(target)));
      case Kind::max:
        return intersect(all_of(e, at_most(target)), any_of(e, at_least(target)));
      case Kind::select: {
        if (const std::optional<Int> known = facts_.fixed(e->args[0]))
          return within(e->args[*known != 0 ? 1 : 2], target);
        // If the condition holds, the first value must lie in the target; if not, the second.
        apart(e->args[0], e->args[1]);
        apart(e->args[0], e->args[2]);
        const IntervalSet yes = unite(within(e->args[0], kFalse), within(e->args[1], target));
        return intersect(yes, unite(within(e->args[0], kTrue), within(e->args[2], target)));
      }
      default:
        return condition(e, target);
    }
  }

  BoxFacts& facts() { return facts_; }

 private:
  IntervalSet all_of(sym::Expr e, Interval target) {
    IntervalSet out{kEverything};
    for (const sym::Expr arg : e->args) out = intersect(out, within(arg, target));
    return out;
  }
  IntervalSet any_of(sym::Expr e, Interval target) {
    if (target == kEverything) return {kEverything};
    IntervalSet out;
    for (std::size_t k = 0; k < e->args.size(); ++k) {
      for (std::size_t other = 0; other < k; ++other) apart(e->args[other], e->args[k]);
      out = unite(out, within(e->args[k], target));
    }
    return out;
  }

  // "For all values, a or b" equals "for all values a, or for all values b" only if a and b share no free loop.
  void apart(sym::Expr a, sym::Expr b) {
    if (facts_.shares_free_loop(a, b)) throw Undecided();
  }

  IntervalSet sum(sym::Expr e, Interval target) {
    const auto term = [&](std::size_t k) { return sym::mul(e->args[k], e->coefficients[k]); };
    if (e->args.size() == 1) {
      try {
        return within(e->args[0], legal({e->coefficients[0], e->value, e->value}, target));
      } catch (const Undecided&) {
        return trial(e, target);
      }
    }
    if (facts_.has_free_loop(e)) {
      for (std::size_t k = 0; k < e->args.size(); ++k) {
        const sym::Expr arg = e->args[k];
        const std::int64_t sign = e->coefficients[k];
        if (arg->kind != Kind::floor_div || (sign != 1 && sign != -1)) continue;
        const sym::Expr divisor = arg->args[1];
        if (divisor->kind != Kind::constant || divisor->value <= 0) continue;
        // a + floor(b/c) is floor((a*c + b)/c)
        const sym::Expr rest = sym::mul(sym::sub(e, term(k)), sign);
        const Interval wanted = sign > 0 ? target : -target;
        return within(sym::add(sym::mul(rest, divisor->value), arg->args[0]), dividends(divisor->value, wanted));
      }
      // Terms of other loops than the rest can be as far out as they like while the rest has any value.
      sym::Expr loose = e->pool->constant(0);
      for (std::size_t k = 0; k < e->args.size(); ++k) {
        if (e->args[k]->kind == Kind::loop && !facts_.names_v(e->args[k])) loose = sym::add(loose, term(k));
      }
      const sym::Expr tied = sym::sub(e, loose);
      if (!loose->is_constant() && !facts_.shares_free_loop(loose, tied)) {
        const Affine moved = facts_.linear(loose);
        return within(tied, legal({1, moved.lo, moved.hi}, target));
      }
    }
    return trial(e, target);
  }

  IntervalSet quotient(sym::Expr e, Interval target) {
    const std::optional<Int> divisor = facts_.fixed(e->args[1]);
    if (!divisor || *divisor == 0) throw Undecided();
    return within(e->args[0], dividends(*divisor, target));
  }

  IntervalSet remainder(sym::Expr e, Interval target) {
    const std::optional<Int> divisor = facts_.fixed(e->args[1]);
    if (!divisor || *divisor <= 0) return trial(e, target);
    const std::int64_t m = divisor->value();
    const Interval inside = sym::intersect(target, {0, m - 1});
    if (inside == Interval{0, m - 1}) return {kEverything};
    if (inside.empty()) return {};
    const std::optional<Affine> inner = facts_.affine(e->args[0]);
    if (!inner) return trial(e, target);
    if (inner->lo != inner->hi) throw Undecided();
    if (inner->slope == 0) return inside.contains((inner->lo % m).value()) ? IntervalSet{kEverything} : IntervalSet{};
    const std::int64_t period = m / std::gcd(inner->slope.value(), m);
    Interval tried = window_;
    if (!bounded(window_)) {
      tried = {0, period - 1};
      if (period > kMaxWindow) throw Undecided();
    } else if (extent(window_) > kMaxWindow) {
      // Two whole periods suffice to show whether the values form an interval.
      if (period > kMaxWindow / 2) throw Undecided();
      tried.hi = (Int(window_.lo) + Int(period) * 2 - 1).value();
    }
    if (!budget_.take(extent(tried))) throw Undecided();
    IntervalSet out;
    for (std::int64_t value = tried.lo; value <= tried.hi; ++value) {
      if (inside.contains(((inner->slope * value + inner->lo) % m).value())) append(out, Interval::point(value));
    }
    if (!bounded(window_)) return out.empty() ? out : IntervalSet{kEverything};
    return out;
  }

  IntervalSet condition(sym::Expr e, Interval target) {
    const bool zero = target.contains(0);
    const bool one = target.contains(1);
    if (zero && one) return {kEverything};
    if (!zero && !one) return {};
    switch (e->kind) {
      case Kind::truth:
        return target.contains(e->value) ? IntervalSet{kEverything} : IntervalSet{};
      case Kind::logical_and:
        return one ? all_of(e, kTrue) : any_of(e, kFalse);
      case Kind::logical_or:
        return one ? any_of(e, kTrue) : all_of(e, kFalse);
      default:
        return comparison(one ? e->kind : sym::negated(e->kind), sym::sub(e->args[1], e->args[0]));
    }
  }

  // a compared with b, by b - a.
  IntervalSet comparison(Kind kind, sym::Expr difference) {
    if (const std::optional<Interval> holds_in = differences(kind)) return within(difference, *holds_in);
    if (facts_.has_free_loop(difference)) throw Undecided();
    return unite(within(difference, differences(Kind::gt).value()), within(difference, differences(Kind::lt).value()));
  }

  // Tries value by value; no other loop may be free. An unbounded window is cut.
  IntervalSet trial(sym::Expr e, Interval target) {
    if (facts_.has_free_loop(e)) throw Undecided();
    Interval tried = window_;
    const bool cut_lo = !tried.has_lo();
    const bool cut_hi = !tried.has_hi();
    if (cut_lo) tried.lo = cut_hi ? -reach_ : (Int(tried.hi) + 1 - 2 * reach_).value();
    if (cut_hi) tried.hi = (Int(tried.lo) + 2 * reach_ - 1).value();
    if (extent(tried) > kMaxWindow || !budget_.take(extent(tried))) throw Undecided();
    IntervalSet out;
    IndexValues& values = facts_.values_of(e);
    std::vector<std::int64_t> at = facts_.point();
    for (std::int64_t value = tried.lo; value <= tried.hi; ++value) {
      at[static_cast<std::size_t>(facts_.variable())] = value;
      const sym::Outcome found = values.outcome(at);
      if (found.fault == sym::Outcome::Fault::none && target.contains(found.value)) append(out, Interval::point(value));
    }
    if (cut_lo && beyond(!out.empty() && out.front().lo < tried.lo + reach_ / 16)) {
      out = unite(out, {{Interval::kMinusInfinity, tried.lo - 1}});
    }
    if (cut_hi && beyond(!out.empty() && out.back().hi >= tried.hi - reach_ / 16)) {
      out = unite(out, {{tried.hi + 1, Interval::kInfinity}});
    }
    return out;
  }

  // True if values beyond a cut end count as legal.
  bool beyond(bool legal_near) const { return !final_ || legal_near; }

  BoxFacts facts_;
  Interval window_;
  bool final_;
  std::int64_t reach_;
  Budget& budget_;
};

// True if the expression is a polynomial in which each free loop occurs at most to the first power in each term. Its
// extremes over a box are then at the corners.
bool multilinear(BoxFacts& facts, sym::Expr e) {
  if (is_linear(e)) return true;
  if (e->kind != Kind::sum && e->kind != Kind::product) return false;
  for (std::size_t k = 0; k < e->args.size(); ++k) {
    if (!multilinear(facts, e->args[k])) return false;
    for (std::size_t other = 0; other < k && e->kind == Kind::product; ++other) {
      if (facts.shares_free_loop(e->args[other], e->args[k])) return false;
    }
  }
  return true;
}

/// Tries every combination of values of the other loops, or only the corners of the box if these decide.
std::optional<IntervalSet> by_combinations(sym::Expr e, Interval target, std::int32_t v, std::span<const Interval> box,
                                           Interval window, bool final, Budget& budget) {
  std::vector<Interval> point(box.begin(), box.end());
  point[static_cast<std::size_t>(v)] = kEverything;
  Solver solver(v, point, window, final, kCombinedReach, budget);
  std::vector<std::int32_t> others;
  for (const std::int32_t loop : solver.facts().loops(e)) {
    if (solver.facts().is_free(loop)) others.push_back(loop);
  }
  if (others.empty()) return {};
  const bool corners = multilinear(solver.facts(), e);
  std::vector<std::vector<std::int64_t>> choices;
  Int combinations = 1;
  for (const std::int32_t other : others) {
    const Interval range = box[static_cast<std::size_t>(other)];
    std::vector<std::int64_t> values;
    if (corners) {
      values = {range.lo, range.hi};
    } else {
      if (extent(range) > kMaxCombinations) return {};
      for (std::int64_t value = range.lo; value <= range.hi; ++value) values.push_back(value);
    }
    combinations *= static_cast<std::int64_t>(values.size());
    if (combinations > kMaxCombinations) return {};
    choices.push_back(std::move(values));
  }
  if (!budget.take(combinations.value())) return {};
  IntervalSet out{kEverything};
  for (std::int64_t k = 0; k < combinations.value() && !out.empty(); ++k) {
    std::int64_t rest = k;
    for (std::size_t d = 0; d < others.size(); ++d) {
      const auto count = static_cast<std::int64_t>(choices[d].size());
      point[static_cast<std::size_t>(others[d])] = Interval::point(choices[d][static_cast<std::size_t>(rest % count)]);
      rest /= count;
    }
    try {
      out = intersect(out, solver.within(e, target));
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
    append(out, sym::intersect(a[i], b[k]));
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
  std::ranges::sort(all, {}, &Interval::lo);
  IntervalSet out;
  for (const Interval interval : all) append(out, interval);
  return out;
}

Interval legal_interval(sym::Expr linear, Interval target, std::int32_t variable, std::span<const Interval> box) {
  return legal(affine_of(linear, variable, box), target);
}

Interval possible_interval(sym::Expr linear, Interval target, std::int32_t variable, std::span<const Interval> box) {
  Affine parts = affine_of(linear, variable, box);
  std::swap(parts.lo, parts.hi);
  return legal(parts, target);
}

std::optional<IntervalSet> legal_values(sym::Expr e, Interval target, std::int32_t variable,
                                        std::span<const Interval> box, Interval window, bool final, Budget& budget) {
  try {
    return Solver(variable, box, window, final, kTrialReach, budget).within(e, target);
  } catch (const Undecided&) {
    return by_combinations(e, target, variable, box, window, final, budget);
  }
}

}  // namespace oriel::lang
