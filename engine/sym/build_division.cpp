// Floor division and remainder.
#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "oriel/error.hpp"
#include "sym/build.hpp"
#include "sym/visit.hpp"

namespace oriel::sym {
namespace {

std::int64_t floor_of(std::int64_t a, std::int64_t b) noexcept {  // of b > 0
  return a / b - (a % b < 0 ? 1 : 0);
}

[[noreturn]] void throw_zero_divisor(const char* operation) {
  throw ArgumentError(operation, "a symbolic size by zero; the divisor must not be 0");
}

// Is `b`, which is not 0, a divisor of `a`, and the quotient an int64? That of -2^63 by -1 is none.
bool divides_exactly(std::int64_t b, std::int64_t a) noexcept {
  return b == -1 ? a != Interval::kMinusInfinity : a % b == 0;
}

std::uint64_t magnitude(std::int64_t n) noexcept { return n < 0 ? 0 - std::uint64_t(n) : std::uint64_t(n); }

std::int64_t common_divisor(std::int64_t a, std::int64_t b) noexcept {
  const std::uint64_t g = std::gcd(magnitude(a), magnitude(b));
  return g > std::uint64_t(Interval::kInfinity) ? 1 : std::int64_t(g);  // 2^63 itself
}

// The greatest common divisor of `with` and the coefficients of all terms.
std::int64_t content(const Terms& terms, std::int64_t with) {
  std::int64_t g = with;
  for (const auto& t : terms.terms) g = common_divisor(g, t.coefficient);
  return common_divisor(g, 0);
}

Terms divided(Terms terms, std::int64_t by) {  // every coefficient is a multiple; the constant is rounded down
  for (auto& t : terms.terms) t.coefficient /= by;
  terms.constant = floor_of(terms.constant, by);
  return terms;
}

/// The factors of `whole` without the factors of `part`; null if `part` does not divide `whole`.
Expr without_factors(Expr whole, Expr part) {
  std::vector<Expr> left(factors(whole).begin(), factors(whole).end());
  for (const Expr factor : factors(part)) {
    const auto found = std::ranges::find(left, factor);
    if (found == left.end()) return nullptr;
    left.erase(found);
  }
  Expr rest = whole->pool->constant(1);
  for (const Expr factor : left) rest = product_of(rest, factor);
  return rest;
}

// The factors that all terms of `a` share with the term `b`.
Expr common_factors(const Terms& a, Expr b) {
  Expr common = b->pool->constant(1);
  if (a.constant != 0 || a.terms.empty()) return common;
  for (const Expr factor : factors(b)) {
    const Expr more = product_of(common, factor);
    if (std::ranges::all_of(a.terms, [&](const auto& t) { return without_factors(t.term, more) != nullptr; })) {
      common = more;
    }
  }
  return common;
}

Expr divided_by_factors(Pool& pool, const Terms& a, Expr common) {
  Expr result = pool.constant(a.constant);
  for (const auto& [term, coefficient] : a.terms) result = add(result, mul(without_factors(term, common), coefficient));
  return result;
}

constexpr std::size_t kMaxQuotientTerms = 32;

struct Split {
  Expr quotient;
  Expr rest;
};

// a == quotient*b + rest for the single term b = coefficient*term. The quotient takes the terms that b divides.
Split split_multiples(Pool& pool, const Terms& a, Expr term, std::int64_t coefficient) {
  Expr quotient = pool.constant(0);
  Terms rest;
  rest.constant = a.constant;
  for (const auto& t : a.terms) {
    const Expr left = divides_exactly(coefficient, t.coefficient) ? without_factors(t.term, term) : nullptr;
    if (left == nullptr) {
      rest.terms.push_back(t);
    } else {
      quotient = add(quotient, mul(left, t.coefficient / coefficient));
    }
  }
  return {quotient, sum_of(pool, rest)};
}

Split split_by_constant(Pool& pool, const Terms& a, std::int64_t divisor) {
  Terms quotient;
  Terms rest;
  quotient.constant = floor_of(a.constant, divisor);
  rest.constant = a.constant - quotient.constant * divisor;
  for (const auto& t : a.terms) {
    if (t.coefficient % divisor == 0) {
      quotient.terms.push_back({t.term, t.coefficient / divisor});
    } else {
      rest.terms.push_back(t);
    }
  }
  return {sum_of(pool, quotient), sum_of(pool, rest)};
}

bool lies_below(Expr a, Expr b) { return a->bounds.lo >= 0 && difference_range(b, a).lo >= 1; }

// Builds a floor_div when no part of `a` is a multiple of `b` and they have no common constant factor.
Expr make_floor_div(Expr a, Expr b) {
  Pool& pool = *a->pool;
  if (a->is_constant(0) || lies_below(a, b)) return pool.constant(0);
  const Interval bounds = floor_div(a->bounds, nonzero(b->bounds));
  if (bounds.is_point()) return pool.constant(bounds.lo);
  const Terms terms = terms_of(a);
  if (b->bounds.lo >= 1 && terms.terms.size() == 1 && terms.terms[0].coefficient == 1 &&
      terms.terms[0].term->kind == Kind::floor_div) {
    // floor((floor(x/y) + k)/b) == floor((x + k*y)/(y*b)) for b > 0
    const Expr inner = terms.terms[0].term;
    return floor_div(add(inner->args[0], mul(inner->args[1], terms.constant)), mul(inner->args[1], b));
  }
  const Expr args[] = {a, b};
  return pool.intern({.kind = Kind::floor_div, .degree = 1, .bounds = bounds, .args = args});
}

Expr make_mod(Expr a, Expr b) {
  Pool& pool = *a->pool;
  if (a->is_constant(0)) return a;
  if (lies_below(a, b) || (a->kind == Kind::mod && a->args[1] == b)) return a;
  const Interval bounds = mod(a->bounds, nonzero(b->bounds));
  if (bounds.is_point()) return pool.constant(bounds.lo);
  const Interval quotient = floor_div(a->bounds, nonzero(b->bounds));
  if (quotient.is_point()) return sub(a, mul(b, quotient.lo));
  const Expr args[] = {a, b};
  return pool.intern({.kind = Kind::mod, .degree = 1, .bounds = bounds, .args = args});
}

Expr floor_div_by_constant(Expr a, std::int64_t divisor) {
  Pool& pool = *a->pool;
  if (divisor == Interval::kMinusInfinity) return make_floor_div(a, pool.constant(divisor));
  if (divisor < 0) return floor_div_by_constant(neg(a), -divisor);
  const Split split = split_by_constant(pool, terms_of(a), divisor);
  const Terms rest = terms_of(split.rest);
  // floor((g*x + r)/(g*d)) == floor(x/d) for 0 <= r < g
  const std::int64_t g = rest.terms.empty() ? divisor : content(rest, divisor);
  const Expr reduced = sum_of(pool, divided(rest, g));
  if (divisor == g) return add(split.quotient, reduced);
  return add(split.quotient, make_floor_div(reduced, pool.constant(divisor / g)));
}

// The residue of a coefficient that keeps its sign, so that an expression reads as it was written. -k and k are the
// same residue of the divisor 2*k; k is taken.
std::int64_t near_residue(std::int64_t c, std::int64_t divisor) {
  const std::int64_t r = c % divisor;
  return r == -(divisor / 2) && divisor % 2 == 0 ? -r : r;
}

Expr mod_by_constant(Expr a, std::int64_t divisor) {
  Pool& pool = *a->pool;
  if (divisor == Interval::kMinusInfinity) return make_mod(a, pool.constant(divisor));
  if (divisor < 0) return neg(mod_by_constant(neg(a), -divisor));
  Terms rest;
  Expr inner = nullptr;  // the dividends of remainders whose divisors are multiples of this one
  const Terms terms = terms_of(a);
  rest.constant = terms.constant - floor_of(terms.constant, divisor) * divisor;
  for (const auto& t : terms.terms) {
    const std::int64_t c = near_residue(t.coefficient, divisor);
    if (c == 0) continue;
    if (t.term->kind == Kind::mod && t.term->args[1]->kind == Kind::constant && t.term->args[1]->value % divisor == 0) {
      const Expr part = mul(t.term->args[0], c);
      inner = inner == nullptr ? part : add(inner, part);
    } else {
      rest.terms.push_back({t.term, c});
    }
  }
  if (inner != nullptr) return mod_by_constant(add(sum_of(pool, rest), inner), divisor);
  if (rest.terms.empty()) return pool.constant(rest.constant);
  const std::int64_t g = content(rest, divisor);
  const std::int64_t r = rest.constant % g;  // mod(g*x + r, g*d) == g*mod(x, d) + r for 0 <= r < g
  if (g == divisor) return pool.constant(r);
  return add(mul(make_mod(sum_of(pool, divided(rest, g)), pool.constant(divisor / g)), g), r);
}

}  // namespace

namespace {

// a == quotient*b + rest, by long division: the quotient takes the terms that b's leading term divides.
Split long_division(Expr a, Expr b) {
  Pool& pool = *a->pool;
  const Terms divisor = terms_of(b);
  const Terms::Term lead = divisor.terms.empty() ? Terms::Term{pool.constant(1), divisor.constant} : divisor.terms[0];
  Split out{pool.constant(0), pool.constant(0)};
  Expr left = a;
  // The order of terms is one of monomials, so each step removes the leading term for good.
  for (std::size_t step = 0; step <= kMaxQuotientTerms && !left->is_constant(0); ++step) {
    const Terms terms = terms_of(left);
    const Terms::Term first = terms.terms.empty() ? Terms::Term{pool.constant(1), terms.constant} : terms.terms[0];
    Expr factor = nullptr;
    if (divides_exactly(lead.coefficient, first.coefficient))
      factor = lead.term->kind == Kind::constant ? first.term : without_factors(first.term, lead.term);
    const Expr part = factor == nullptr ? nullptr : mul(factor, first.coefficient / lead.coefficient);
    const Expr taken = part == nullptr ? mul(first.term, first.coefficient) : mul(part, b);
    Expr& grown = part == nullptr ? out.rest : out.quotient;
    grown = add(grown, part == nullptr ? taken : part);
    left = sub(left, taken);
  }
  out.rest = add(out.rest, left);
  return out;
}

// The floor and the remainder, if long division by a sum leaves what is known to lie in [0, b), or one b below.
std::optional<Split> decided_division(Expr a, Expr b) try {
  const Split split = long_division(a, b);
  if (split.quotient->is_constant(0)) return std::nullopt;
  if (lies_below(split.rest, b)) return split;
  const Expr above = add(split.rest, b);
  if (split.rest->bounds.hi < 0 && lies_below(above, b)) return Split{add(split.quotient, -1), above};
  return std::nullopt;
} catch (const OverflowError&) {
  return std::nullopt;
}

}  // namespace

Expr exact_quotient(Expr a, Expr b) try {
  if (b->is_constant(0)) return nullptr;
  const Split split = long_division(a, b);
  return split.rest->is_constant(0) ? split.quotient : nullptr;
} catch (const OverflowError&) {
  return nullptr;
}

Expr floor_div(Expr a, Expr b) {
  Pool& pool = *a->pool;
  if (b->is_constant(0)) throw_zero_divisor("divide");
  if (b->kind == Kind::constant) return floor_div_by_constant(a, b->value);
  if (a->is_constant(0)) return a;
  if (const Expr quotient = exact_quotient(a, b)) return quotient;
  const Terms divisor = terms_of(b);
  Expr numerator = a;
  Expr whole = pool.constant(0);
  if (divisor.constant != 0 || divisor.terms.size() != 1) {
    if (const auto decided = decided_division(a, b)) return decided->quotient;
  } else {
    const auto [term, coefficient] = divisor.terms[0];
    const Split split = split_multiples(pool, terms_of(a), term, coefficient);
    whole = split.quotient;
    numerator = split.rest;
    const Expr common = common_factors(terms_of(numerator), term);
    if (!common->is_constant(1)) {
      numerator = divided_by_factors(pool, terms_of(numerator), common);
      return add(whole, floor_div(numerator, mul(without_factors(term, common), coefficient)));
    }
  }
  const Terms terms = terms_of(numerator);
  if (const std::int64_t g = content(terms, content(divisor, common_divisor(terms.constant, divisor.constant)));
      g > 1) {
    return add(whole, make_floor_div(sum_of(pool, divided(terms, g)), sum_of(pool, divided(divisor, g))));
  }
  return add(whole, make_floor_div(numerator, b));
}

bool lost_divisor(Expr made, Expr divisor) {
  if (!divisor->bounds.contains(0)) return false;
  bool kept = false;
  visit(made, [&](Expr node) {
    if (kept || (node->kind != Kind::floor_div && node->kind != Kind::mod)) return;
    // A divisor without its constant factor is 0 where the whole is.
    const Expr factor = node->args[1] == divisor ? made->pool->constant(1) : exact_quotient(divisor, node->args[1]);
    kept = factor != nullptr && factor->kind == Kind::constant;
  });
  return !kept;
}

Expr written_floor_div(Expr a, Expr b) {
  if (a->kind == Kind::constant && b->kind == Kind::constant) return floor_div(a, b);
  const Expr args[] = {a, b};
  return a->pool->intern({.kind = Kind::floor_div, .degree = 1, .args = args});
}

Expr mod(Expr a, Expr b) {
  Pool& pool = *a->pool;
  if (b->is_constant(0)) throw_zero_divisor("remainder");
  if (b->kind == Kind::constant) return mod_by_constant(a, b->value);
  if (a->is_constant(0)) return a;
  if (exact_quotient(a, b) != nullptr) return pool.constant(0);
  const Terms divisor = terms_of(b);
  Expr rest = a;
  if (divisor.constant != 0 || divisor.terms.size() != 1) {
    if (const auto decided = decided_division(a, b)) return decided->rest;
  } else {
    const auto [term, coefficient] = divisor.terms[0];
    rest = split_multiples(pool, terms_of(a), term, coefficient).rest;
    const Expr common = common_factors(terms_of(rest), term);
    if (!common->is_constant(1)) {
      const Expr inner = divided_by_factors(pool, terms_of(rest), common);
      return mul(common, mod(inner, mul(without_factors(term, common), coefficient)));
    }
  }
  const Terms terms = terms_of(rest);
  if (const std::int64_t g = content(terms, content(divisor, common_divisor(terms.constant, divisor.constant)));
      g > 1) {
    return mul(make_mod(sum_of(pool, divided(terms, g)), sum_of(pool, divided(divisor, g))), g);
  }
  return make_mod(rest, b);
}

}  // namespace oriel::sym
