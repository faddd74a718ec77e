// Sums and products.
#include <algorithm>
#include <numeric>

#include "oriel/error.hpp"
#include "sym/build.hpp"
#include "sym/polynomial_range.hpp"

namespace oriel::sym {
namespace {

[[noreturn]] void throw_coefficient(const char* operation) {
  throw OverflowError(operation, "a coefficient of a symbolic size does not fit a signed 64-bit integer");
}

std::int64_t checked_add(std::int64_t a, std::int64_t b) {
  std::int64_t r = 0;
  if (__builtin_add_overflow(a, b, &r)) throw_coefficient("add");
  return r;
}

std::int64_t checked_multiply(std::int64_t a, std::int64_t b) {
  std::int64_t r = 0;
  if (__builtin_mul_overflow(a, b, &r)) throw_coefficient("multiply");
  return r;
}

// Adds factor * more to `into`.
void accumulate(Terms& into, const Terms& more, std::int64_t factor) {
  into.constant = checked_add(into.constant, checked_multiply(more.constant, factor));
  std::vector<Terms::Term> merged;
  merged.reserve(into.terms.size() + more.terms.size());
  auto left = into.terms.begin();
  for (const auto& [term, coefficient] : more.terms) {
    while (left != into.terms.end() && compare_terms(left->term, term) < 0) merged.push_back(*left++);
    std::int64_t c = checked_multiply(coefficient, factor);
    if (left != into.terms.end() && left->term == term) c = checked_add(left++->coefficient, c);
    if (c == Interval::kMinusInfinity) throw_coefficient("add");  // every coefficient must have a negative
    if (c != 0) merged.push_back({term, c});
  }
  merged.insert(merged.end(), left, into.terms.end());
  into.terms = std::move(merged);
}

Terms scaled(const Terms& a, std::int64_t factor) {
  Terms result;
  accumulate(result, a, factor);
  return result;
}

}  // namespace

Terms terms_of(Expr a) {
  Terms result;
  if (a->kind == Kind::constant) {
    result.constant = a->value;
  } else if (a->kind == Kind::sum) {
    result.constant = a->value;
    result.terms.reserve(a->args.size());
    for (std::size_t k = 0; k < a->args.size(); ++k) result.terms.push_back({a->args[k], a->coefficients[k]});
  } else {
    result.terms.push_back({a, 1});
  }
  return result;
}

Expr sum_of(Pool& pool, const Terms& terms) {
  if (terms.terms.empty()) return pool.constant(terms.constant);
  if (terms.constant == 0 && terms.terms.size() == 1 && terms.terms[0].coefficient == 1) return terms.terms[0].term;
  std::vector<Expr> args;
  std::vector<std::int64_t> coefficients;
  for (const auto& [term, coefficient] : terms.terms) {
    args.push_back(term);
    coefficients.push_back(coefficient);
  }
  return pool.intern({.kind = Kind::sum,
                      .degree = 1,
                      .value = terms.constant,
                      .bounds = polynomial_range(terms, [](Expr factor) { return factor->bounds; }),
                      .args = args,
                      .coefficients = coefficients});
}

Expr add(Expr a, Expr b) {
  Terms sum = terms_of(a);
  accumulate(sum, terms_of(b), 1);
  return sum_of(*a->pool, sum);
}

Expr add(Expr a, std::int64_t b) {
  if (b == 0) return a;
  Terms sum = terms_of(a);
  sum.constant = checked_add(sum.constant, b);
  return sum_of(*a->pool, sum);
}

Expr sub(Expr a, Expr b) {
  Terms sum = terms_of(a);
  accumulate(sum, terms_of(b), -1);
  return sum_of(*a->pool, sum);
}

Interval difference_range(Expr a, Expr b) try { return sub(a, b)->bounds; } catch (const OverflowError&) {
  return a->bounds - b->bounds;
}

Expr neg(Expr a) { return mul(a, -1); }

Expr mul(Expr a, std::int64_t b) { return b == 1 ? a : sum_of(*a->pool, scaled(terms_of(a), b)); }

Expr product_of(Expr a, Expr b) {
  if (a->is_constant(1)) return b;
  if (b->is_constant(1)) return a;
  const std::span<const Expr> of_a = factors(a);
  const std::span<const Expr> of_b = factors(b);
  std::vector<Expr> all(of_a.size() + of_b.size());
  std::ranges::merge(of_a, of_b, all.begin(), [](Expr x, Expr y) { return compare(x, y) < 0; });
  Interval bounds = Interval::point(1);
  for (std::size_t k = 0; k < all.size();) {
    const std::size_t first = k;
    while (k < all.size() && all[k] == all[first]) ++k;
    bounds = bounds * power(all[first]->bounds, std::int64_t(k - first));
  }
  return a->pool->intern({.kind = Kind::product, .degree = std::uint32_t(all.size()), .bounds = bounds, .args = all});
}

Expr mul(Expr a, Expr b) {
  if (a->kind == Kind::constant) return mul(b, a->value);
  if (b->kind == Kind::constant) return mul(a, b->value);
  const Terms of_a = terms_of(a);
  const Terms of_b = terms_of(b);
  const auto count = [](const Terms& terms) { return terms.terms.size() + (terms.constant != 0 ? 1 : 0); };
  if (count(of_a) * count(of_b) > kMaxTerms) return product_of(a, b);
  Terms result = scaled(of_a, of_b.constant);
  for (const auto& [term, coefficient] : of_b.terms) {
    Terms partial;
    if (of_a.constant != 0) partial.terms.push_back({term, of_a.constant});
    for (const auto& [other, c] : of_a.terms) {
      partial.terms.push_back({product_of(other, term), c});
    }
    std::ranges::sort(partial.terms, [](const auto& x, const auto& y) { return compare_terms(x.term, y.term) < 0; });
    accumulate(result, partial, coefficient);
  }
  return sum_of(*a->pool, result);
}

Expr power(Expr a, std::int64_t exponent) {
  if (exponent < 0)
    throw ArgumentError("power", "the exponent must be 0 or more, but " + std::to_string(exponent) + " came");
  if (a->kind == Kind::constant && a->value >= -1 && a->value <= 1) {
    return exponent == 0 || (a->value == -1 && exponent % 2 == 0) ? a->pool->constant(1) : a;
  }
  if (exponent > std::int64_t(kMaxTerms)) throw_coefficient("power");
  Expr result = a->pool->constant(1);
  for (; exponent > 0; --exponent) result = mul(result, a);
  return result;
}

}  // namespace oriel::sym
