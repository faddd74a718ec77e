#include "sym/refute.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <unordered_map>

#include "oriel/error.hpp"
#include "sym/build.hpp"
#include "sym/linear.hpp"

namespace oriel::sym {

namespace {

constexpr std::int64_t kMaxRooted = std::int64_t(1) << 52;

// The largest r with r^exponent <= n, for n >= 0.
std::int64_t floor_root(std::int64_t n, std::int64_t exponent) {
  auto r = static_cast<std::int64_t>(std::pow(static_cast<double>(n), 1.0 / static_cast<double>(exponent))) + 2;
  while (r > 0 && power(Interval::point(r), exponent).lo > n) --r;
  return r;
}

// Multiplies floor(a/b) >= -rest, or floor(a/b) <= rest, by b > 0.
void multiply_out(Expr whole, const Terms::Term& term, std::vector<Expr>& found) {
  const Expr dividend = term.term->args[0];
  const Expr divisor = term.term->args[1];
  if (divisor->bounds.lo < 1) return;
  const Expr rest = sub(whole, mul(term.term, term.coefficient));
  if (term.coefficient == 1) found.push_back(add(dividend, mul(rest, divisor)));
  if (term.coefficient == -1) found.push_back(add(sub(mul(add(rest, 1), divisor), dividend), -1));
}

void replace_extreme(Expr whole, const Terms::Term& term, std::vector<Expr>& found) {
  const bool applies = term.term->kind == Kind::max ? term.coefficient < 0 : term.coefficient > 0;
  if (!applies) return;
  const Expr rest = sub(whole, mul(term.term, term.coefficient));
  for (const Expr arg : term.term->args) found.push_back(add(rest, mul(arg, term.coefficient)));
}

// For f >= 1, f*p >= 0 implies p >= 0 and f*p >= 1 implies p >= 1.
void divide_by_common_factors(const Terms& terms, Expr whole, std::vector<Expr>& found) {
  if (terms.terms.empty() || (terms.constant != 0 && terms.constant != -1)) return;
  const Expr product = sub(whole, whole->pool->constant(terms.constant));
  for (const Expr factor : factors(terms.terms[0].term)) {
    if (factor->bounds.lo < 1) continue;
    const Expr quotient = exact_quotient(product, factor);
    if (quotient != nullptr && quotient->kind != Kind::constant) found.push_back(add(quotient, terms.constant));
  }
}

// From coefficient * x^n * others + constant >= 0 with x >= 0 and others >= 1.
void bound_factors(const Terms& terms, std::vector<Expr>& found) {
  if (terms.terms.size() != 1 || terms.terms[0].term->kind != Kind::product) return;
  const auto& [product, coefficient] = terms.terms[0];
  const Interval range = coefficient < 0
                             ? Interval{0, floor_div(Interval::point(terms.constant), Interval::point(-coefficient)).hi}
                             : Interval{(-floor_div(Interval::point(terms.constant), Interval::point(coefficient))).lo,
                                        Interval::kInfinity};
  const std::span<const Expr> all = product->args;
  for (std::size_t k = 0; k < all.size();) {
    const std::size_t first = k;
    Interval others = Interval::point(1);
    while (k < all.size() && all[k] == all[first]) ++k;
    for (std::size_t other = 0; other < all.size(); ++other) {
      if (all[other] != all[first]) others = others * all[other]->bounds;
    }
    const Expr factor = all[first];
    const auto exponent = static_cast<std::int64_t>(k - first);
    if (factor->bounds.lo < 0 || others.lo < 1) continue;
    if (range.has_hi() && range.hi >= 0) {
      const std::int64_t most = range.hi / others.lo;
      if (most <= kMaxRooted) found.push_back(sub(factor->pool->constant(floor_root(most, exponent)), factor));
    }
    if (range.lo > 0 && range.lo <= kMaxRooted && others.has_hi()) {
      const std::int64_t least = (range.lo - 1) / others.hi + 1;  // x^n >= least
      found.push_back(add(factor, -(floor_root(least - 1, exponent) + 1)));
    }
  }
}

constexpr std::size_t kMaxUnknowns = 48;
constexpr std::size_t kMaxSplits = 8;

// A linear system made from conditions, and the disjunctions that are not part of it yet.
class Refutation {
 public:
  void assume(Expr condition) {
    try {
      state(condition);
      while (!introduced_.empty() && unknowns_.size() <= kMaxUnknowns) {
        const Expr term = introduced_.back();
        introduced_.pop_back();
        describe(term);
      }
    } catch (const OverflowError&) {
      // Leave out the fact that does not fit. Then fewer contradictions are found, but never a false one.
    }
  }

  bool refuted(int& budget) {
    if (false_) return true;
    if (--budget < 0) return false;
    if (system_.contradicts()) return true;
    if (splits_.empty()) return false;
    const std::vector<Expr> alternatives = std::move(splits_.back());
    splits_.pop_back();
    for (const Expr alternative : alternatives) {
      Refutation branch = *this;
      branch.assume(alternative);
      if (!branch.refuted(budget)) return false;
    }
    return true;
  }

 private:
  void state(Expr condition) {
    switch (condition->kind) {
      case Kind::truth:
        false_ |= condition->value == 0;
        return;
      case Kind::logical_and:
        for (const Expr part : condition->args) state(part);
        return;
      case Kind::logical_or:
        return split({condition->args.begin(), condition->args.end()});
      case Kind::ne: {
        const Expr a = condition->args[0];
        const Expr b = condition->args[1];
        return split({lt(a, b), gt(a, b)});
      }
      case Kind::predicate:
      case Kind::not_predicate:
        return;
      case Kind::eq:
        return system_.require_zero(linear(sub(condition->args[0], condition->args[1])));
      default:
        return not_negative(slack_of(condition));
    }
  }

  void split(std::vector<Expr> alternatives) {
    if (splits_.size() < kMaxSplits) splits_.push_back(std::move(alternatives));
  }

  // Adds e >= 0 and what follows from it, up to two steps.
  void not_negative(Expr e, int depth = 0) {
    system_.require_not_negative(linear(e));
    if (depth == 2) return;
    for (const Expr derived : consequences(e)) not_negative(derived, depth + 1);
  }

  LinearForm linear(Expr e) {
    const Terms terms = terms_of(e);
    LinearForm form{terms.constant, {}};
    for (const auto& [term, coefficient] : terms.terms) form.terms.emplace_back(unknown(term), coefficient);
    std::ranges::sort(form.terms);
    return form;
  }

  std::uint32_t unknown(Expr term) {
    const auto [at, added] = unknowns_.try_emplace(term, static_cast<std::uint32_t>(unknowns_.size()));
    if (added) introduced_.push_back(term);
    return at->second;
  }

  // Adds linear facts about a term that hold wherever it is defined.
  void describe(Expr term) {
    const Interval bounds = term->bounds;
    const std::uint32_t index = unknown(term);
    // Bounds of 2^60 or more are left out: the system does not handle them.
    if (bounds.lo > -LinearSystem::kMaxCoefficient) system_.require_not_negative({-bounds.lo, {{index, 1}}});
    if (bounds.hi < LinearSystem::kMaxCoefficient) system_.require_not_negative({bounds.hi, {{index, -1}}});
    switch (term->kind) {
      case Kind::product:
        return describe_product(term);
      // The conditions are assumed to have a value, so no divisor is 0.
      case Kind::floor_div: {
        if (term->args[1]->bounds.lo < 0) return;
        if (term->args[1]->bounds.lo == 0) not_negative(add(term->args[1], -1));
        const Expr rest = sub(term->args[0], mul(term, term->args[1]));
        not_negative(rest);
        return not_negative(add(sub(term->args[1], rest), -1));
      }
      case Kind::mod: {
        if (term->args[1]->bounds.lo < 0) return;
        if (term->args[1]->bounds.lo == 0) not_negative(add(term->args[1], -1));
        not_negative(add(sub(term->args[1], term), -1));
        if (term->args[0]->bounds.lo >= 0) not_negative(sub(term->args[0], term));
        const Expr quotient = floor_div(term->args[0], term->args[1]);
        return system_.require_zero(linear(sub(sub(term->args[0], mul(quotient, term->args[1])), term)));
      }
      case Kind::min:
      case Kind::max: {
        std::vector<Expr> alternatives;
        for (const Expr arg : term->args) {
          not_negative(term->kind == Kind::max ? sub(term, arg) : sub(arg, term));
          alternatives.push_back(term->kind == Kind::max ? le(term, arg) : ge(term, arg));
        }
        return split(std::move(alternatives));
      }
      case Kind::select:
        return split({logical_and(term->args[0], eq(term, term->args[1])),
                      logical_and(logical_not(term->args[0]), eq(term, term->args[2]))});
      default:
        return;
    }
  }

  // McCormick's inequalities: (x - x.lo)*(y - y.lo) >= 0 and the like.
  void describe_product(Expr term) {
    const Expr x = term->args[0];
    Expr y = term->args[1];
    for (const Expr factor : term->args.subspan(2)) y = product_of(y, factor);
    const auto corner = [&](std::int64_t of_x, std::int64_t of_y, int sign) {
      const std::int64_t limit = std::int64_t(1) << 30;
      if (of_x > limit || of_x < -limit || of_y > limit || of_y < -limit) return;
      const Expr gap = add(sub(sub(term, mul(x, of_y)), mul(y, of_x)), of_x * of_y);
      not_negative(sign > 0 ? gap : neg(gap));
    };
    corner(x->bounds.lo, y->bounds.lo, 1);
    corner(x->bounds.hi, y->bounds.hi, 1);
    corner(x->bounds.lo, y->bounds.hi, -1);
    corner(x->bounds.hi, y->bounds.lo, -1);
  }

  LinearSystem system_;
  std::vector<std::vector<Expr>> splits_;
  std::unordered_map<Expr, std::uint32_t> unknowns_;
  std::vector<Expr> introduced_;
  bool false_ = false;
};

}  // namespace

std::vector<Expr> consequences(Expr not_negative) {
  std::vector<Expr> found;
  try {
    const Terms terms = terms_of(not_negative);
    for (const auto& term : terms.terms) {
      if (term.term->kind == Kind::floor_div) multiply_out(not_negative, term, found);
      if (term.term->kind == Kind::min || term.term->kind == Kind::max) replace_extreme(not_negative, term, found);
    }
    divide_by_common_factors(terms, not_negative, found);
    bound_factors(terms, found);
  } catch (const OverflowError&) {
    // On overflow keep the consequences found so far.
  }
  return found;
}

bool contradicts(std::span<const Expr> conditions, int budget) {
  Refutation refutation;
  for (const Expr condition : conditions) refutation.assume(condition);
  return refutation.refuted(budget);
}

}  // namespace oriel::sym
