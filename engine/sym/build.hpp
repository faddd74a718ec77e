// Builds expressions in canonical form. Each function returns an equal expression wherever the operands are defined and
// within their bounds; where a divisor is 0 an expression has no value, and a factor 0 may have removed it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "sym/node.hpp"

namespace oriel::sym {

// Integers. A coefficient that does not fit an int64 is an OverflowError.

/// Sums are flat, their terms in order, equal terms joined: x + x is 2*x, and (a + b) - b is a.
Expr add(Expr a, Expr b);
Expr add(Expr a, std::int64_t b);
Expr sub(Expr a, Expr b);
Expr neg(Expr a);
/// Products of sums are multiplied out, up to kMaxTerms terms.
Expr mul(Expr a, Expr b);
Expr mul(Expr a, std::int64_t b);
inline constexpr std::size_t kMaxTerms = 256;
/// a to the power `exponent` >= 0; 1 for 0. Throws ArgumentError for a negative one.
Expr power(Expr a, std::int64_t exponent);

/// Rounded towards minus infinity. floor_div(floor_div(a, b), c) is floor_div(a, b*c), common factors cancel, and
/// floor_div(k*a + r, k) is a + floor_div(r, k). A constant divisor 0 throws ArgumentError.
Expr floor_div(Expr a, Expr b);
/// A quotient whose divisor may be 0, as it is written: nothing cancels and no bound follows, so that it has no value
/// exactly where b is 0. Constants are computed.
Expr written_floor_div(Expr a, Expr b);
/// With the divisor's sign: a - b*floor_div(a, b). mod(k*a + r, k) is mod(r, k).
Expr mod(Expr a, Expr b);

/// `made` is a quotient or remainder by `divisor`, as the functions above give it. May it have a value where the
/// divisor is 0, because the divisor has gone?
bool lost_divisor(Expr made, Expr divisor);

/// Nested ones are joined, constants come first, and what the bounds decide goes: max(1, s) is s for s >= 1.
Expr min(Expr a, Expr b);
Expr max(Expr a, Expr b);

/// `a` where `condition` holds, else `b`.
Expr select(Expr condition, Expr a, Expr b);

// Conditions.

/// a == b, a < b ...: `kind` is one of Kind::eq to Kind::ge. The sides stay as they are written; what the bounds decide
/// is a truth value.
Expr relation(Kind kind, Expr a, Expr b);
inline Expr eq(Expr a, Expr b) { return relation(Kind::eq, a, b); }
inline Expr ne(Expr a, Expr b) { return relation(Kind::ne, a, b); }
inline Expr lt(Expr a, Expr b) { return relation(Kind::lt, a, b); }
inline Expr le(Expr a, Expr b) { return relation(Kind::le, a, b); }
inline Expr gt(Expr a, Expr b) { return relation(Kind::gt, a, b); }
inline Expr ge(Expr a, Expr b) { return relation(Kind::ge, a, b); }
/// The kind of the negation: == and !=, < and >=, > and <=.
Kind negated(Kind comparison) noexcept;
/// Does the comparison hold for these integers?
template <class Integer>
constexpr bool holds(Kind comparison, Integer a, Integer b) noexcept {
  switch (comparison) {
    case Kind::eq:
      return a == b;
    case Kind::ne:
      return a != b;
    case Kind::lt:
      return a < b;
    case Kind::le:
      return a <= b;
    case Kind::gt:
      return a > b;
    default:
      return a >= b;
  }
}
/// Whether the comparison holds for all, for no, or for some numbers of the intervals (nullopt).
std::optional<bool> known_relation(Kind comparison, Interval a, Interval b) noexcept;
/// Of an inequality, a < b, a <= b, a > b or a >= b: the expression that is at least 0 exactly where it holds.
Expr slack_of(Expr inequality);

Expr logical_and(Expr a, Expr b);
Expr logical_or(Expr a, Expr b);
/// Pushed through to the comparisons.
Expr logical_not(Expr a);

/// `function` of integers as one opaque condition; `name` stands for it in hashes and texts. Constants are computed,
/// and so is what `form` (unless null) sees in the expressions.
Expr predicate(std::string_view name, PredicateFunction function, std::span<const Expr> args,
               PredicateForm form = nullptr);

// What builders and procedures share.

/// A sum taken apart: constant + the sum of coefficient times term.
struct Terms {
  struct Term {
    Expr term;
    std::int64_t coefficient;
  };
  std::int64_t constant = 0;
  std::vector<Term> terms;  ///< in order (compare_terms), each once
};
Terms terms_of(Expr a);
/// The sum of `terms`, which must be in order.
Expr sum_of(Pool& pool, const Terms& terms);
/// Encloses a - b.
Interval difference_range(Expr a, Expr b);
/// The product of the factors of both.
Expr product_of(Expr a, Expr b);
/// q with a == q*b as polynomials; null where there is none.
Expr exact_quotient(Expr a, Expr b);
/// The same node kind over other arguments, canonical.
Expr rebuild(Expr node, std::span<const Expr> args);

}  // namespace oriel::sym
