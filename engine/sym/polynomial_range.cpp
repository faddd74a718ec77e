#include "sym/polynomial_range.hpp"

#include <algorithm>
#include <map>
#include <string>

namespace oriel::sym {
namespace {

__extension__ using Wide = __int128;

struct Shift {
  Expr factor;
  std::int64_t base;  // factor == base + sign * t
  int sign;
  Interval distance;  // the range of t
};

constexpr std::size_t kMaxShiftedTerms = 64;
constexpr Wide kMaxCoefficient = Wide(1) << 62;

Interval direct_range(const Terms& terms, const std::function<Interval(Expr)>& range_of) {
  Interval sum = Interval::point(terms.constant);
  for (const auto& [term, coefficient] : terms.terms) {
    Interval product = Interval::point(coefficient);
    const std::span<const Expr> all = factors(term);
    for (std::size_t k = 0; k < all.size();) {
      const std::size_t first = k;
      while (k < all.size() && all[k] == all[first]) ++k;
      product = product * power(range_of(all[first]), std::int64_t(k - first));
    }
    sum = sum + product;
  }
  return sum;
}

// Products of distances t, as sorted indices of shifts, with their coefficients.
using Shifted = std::map<std::u32string, Wide>;

bool multiply(Shifted& polynomial, char32_t index, const Shift& shift) {
  Shifted result;
  for (const auto& [powers, coefficient] : polynomial) {
    Wide& constant_part = result[powers];
    constant_part += coefficient * shift.base;
    std::u32string more = powers;
    more.insert(std::ranges::upper_bound(more, index), index);
    Wide& linear_part = result[more];
    linear_part += coefficient * shift.sign;
    for (const Wide c : {constant_part, linear_part}) {
      if (c > kMaxCoefficient || c < -kMaxCoefficient) return false;
    }
  }
  polynomial = std::move(result);
  return polynomial.size() <= kMaxShiftedTerms;
}

// Unbounded if the polynomial is too large.
Interval shifted_range(const Terms& terms, const std::function<Interval(Expr)>& range_of) {
  std::vector<Shift> shifts;
  Shifted sum;
  sum[{}] = terms.constant;
  for (const auto& [term, coefficient] : terms.terms) {
    Shifted product;
    product[{}] = coefficient;
    for (const Expr factor : factors(term)) {
      auto found = std::ranges::find(shifts, factor, &Shift::factor);
      if (found == shifts.end()) {
        const Interval range = range_of(factor);
        if (shifts.size() == 8 || range.empty() || (!range.has_lo() && !range.has_hi())) return {};
        const Interval distance =
            range.has_lo() && range.has_hi() ? Interval::point(range.hi) - Interval::point(range.lo) : Interval{};
        shifts.push_back({factor, range.has_lo() ? range.lo : range.hi, range.has_lo() ? 1 : -1, {0, distance.hi}});
        found = shifts.end() - 1;
      }
      if (!multiply(product, static_cast<char32_t>(found - shifts.begin()), *found)) return {};
    }
    for (const auto& [powers, c] : product) {
      Wide& total = sum[powers];
      total += c;
      if (total > kMaxCoefficient || total < -kMaxCoefficient) return {};
    }
    if (sum.size() > kMaxShiftedTerms) return {};
  }
  Interval result = Interval::point(0);
  for (const auto& [powers, c] : sum) {
    Interval product = Interval::point(static_cast<std::int64_t>(c));
    for (const char32_t index : powers) product = product * shifts[index].distance;
    result = result + product;
  }
  return result;
}

}  // namespace

Interval polynomial_range(const Terms& terms, const std::function<Interval(Expr factor)>& range_of) {
  const Interval direct = direct_range(terms, range_of);
  const bool linear = std::ranges::all_of(terms.terms, [](const auto& t) { return t.term->degree <= 1; });
  if (linear || terms.terms.size() > 12) return direct;
  return intersect(direct, shifted_range(terms, range_of));
}

}  // namespace oriel::sym
