#include "sym/consequences.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "oriel/error.hpp"
#include "sym/build.hpp"

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

}  // namespace oriel::sym
