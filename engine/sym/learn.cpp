// Learns a fact: replaces symbols, narrows ranges, and finds facts that follow.
#include <algorithm>
#include <numeric>
#include <utility>

#include "oriel/error.hpp"
#include "sym/knowledge.hpp"
#include "sym/print.hpp"
#include "sym/refute.hpp"

namespace oriel::sym {
namespace {

// Narrowing could repeat without end (x < y and y < x). Stopping early loses precision, not correctness.
constexpr int kMaxRounds = 60;
constexpr int kQuickBudget = 6;
constexpr std::size_t kMaxDerivedFacts = 60;

bool occurs_in(Expr variable, Expr e) {
  const std::vector<Expr> all = variables_of(e);
  return std::ranges::find(all, variable) != all.end();
}

Expr opposite_relation(Expr not_negative, std::int64_t offset) {  // not_negative >= 1 + offset
  return ge(not_negative, not_negative->pool->constant(1 + offset));
}

}  // namespace

void Knowledge::learn(Expr condition) {
  const Expr simple = simplify(condition);
  if (simple->kind == Kind::truth && simple->value == 0) Facts::throw_contradiction(condition);
  facts_.add(simple);
  int rounds = 0;
  for (bool changed = true; changed && rounds < kMaxRounds; ++rounds) {
    changed = false;
    for (std::size_t k = 0; k < facts_.size() && !changed; ++k) changed = learn_from(facts_[k]);
    for (std::size_t k = 0; k < facts_.size() && !changed; ++k) changed = examine(facts_[k]);
  }
  meanings_.update_replacements();
}

bool Knowledge::learn_from(const Facts::Fact& fact) {
  const Expr condition = fact.condition;
  if (!condition->is_comparison()) return false;
  const Expr a = condition->args[0];
  const Expr b = condition->args[1];
  try {
    switch (condition->kind) {
      case Kind::eq:
        return learn_equality(a, b);
      case Kind::ne:
        return learn_difference(a, b);
      default:
        return learn_inequality(slack_of(condition));
    }
  } catch (const OverflowError&) {
    return false;  // leave the fact as it is
  }
}

bool Knowledge::learn_equality(Expr a, Expr b) {
  Terms terms = terms_of(sub(a, b));
  std::int64_t g = 0;
  for (const auto& t : terms.terms) {
    if (t.coefficient == Interval::kMinusInfinity) return false;  // it has no opposite
    g = std::gcd(g, t.coefficient);
  }
  if (g == 0) return false;
  if (terms.constant % g != 0) Facts::throw_contradiction(eq(a, b));
  terms.constant /= g;
  for (auto& t : terms.terms) t.coefficient /= g;

  // The variable to eliminate must follow from the others without a division. Variables without a hint come first, then
  // the larger hint, then the later name.
  const Terms::Term* chosen = nullptr;
  const auto rank = [&](Expr variable) {
    const auto hint = meanings_.hint_of(variable);
    return std::pair(hint ? 0 : 1, hint.value_or(0));
  };
  for (const auto& t : terms.terms) {
    if (!t.term->is_variable() || (t.coefficient != 1 && t.coefficient != -1)) continue;
    const bool elsewhere = std::ranges::any_of(
        terms.terms, [&](const auto& other) { return other.term != t.term && occurs_in(t.term, other.term); });
    if (elsewhere) continue;
    if (chosen == nullptr || rank(t.term) >= rank(chosen->term)) chosen = &t;
  }
  if (chosen == nullptr) {
    if (learn_remainder(terms)) return true;
    const Expr whole = sum_of(*pool_, terms);
    return learn_inequality(whole) || learn_inequality(neg(whole));
  }
  const Expr variable = chosen->term;
  const std::int64_t sign = chosen->coefficient;
  const Expr rest = sub(sum_of(*pool_, terms), mul(variable, sign));
  replace(variable, mul(rest, -sign));
  return true;
}

// Learns mod(a, b) == r, or b*floor_div(a, b) == a: replaces a by b*q + r with a new variable q.
bool Knowledge::learn_remainder(const Terms& terms) {
  const Expr whole = sum_of(*pool_, terms);
  for (const auto& [term, coefficient] : terms.terms) {
    Expr dividend = nullptr;
    Expr divisor = nullptr;
    Expr remainder = nullptr;
    if (term->kind == Kind::mod && terms.terms.size() == 1 && (coefficient == 1 || coefficient == -1) &&
        terms.constant != Interval::kMinusInfinity) {
      dividend = term->args[0];
      divisor = term->args[1];
      remainder = pool_->constant(-terms.constant * coefficient);
    }
    for (const Expr factor : factors(term)) {
      if (factor->kind != Kind::floor_div) continue;
      const Expr rest = sub(factor->args[0], mul(factor->args[1], factor));
      if (whole == rest || whole == neg(rest)) {
        dividend = factor->args[0];
        divisor = factor->args[1];
        remainder = pool_->constant(0);
      }
    }
    if (dividend == nullptr) continue;
    const Terms parts = terms_of(sub(dividend, remainder));
    for (const auto& part : parts.terms) {
      if (!part.term->is_variable() || (part.coefficient != 1 && part.coefficient != -1)) continue;
      const Expr rest = sub(sum_of(*pool_, parts), mul(part.term, part.coefficient));
      if (occurs_in(part.term, rest) || occurs_in(part.term, divisor)) continue;
      const Expr old = floor_div(dividend, divisor);
      const Expr quotient = pool_->symbol("(" + to_string(old) + ")", old->bounds, ++quotients_);
      Program program(old);
      if (const auto values = meanings_.hints_of(program.variables())) {
        const Outcome hint = program.run(*values)[0];
        if (hint.fault == Outcome::Fault::none) meanings_.set_hint(quotient, hint.value);
      }
      replace(part.term, mul(sub(mul(divisor, quotient), rest), part.coefficient));
      return true;
    }
  }
  return false;
}

bool Knowledge::learn_inequality(Expr not_negative) {
  const Terms terms = terms_of(not_negative);
  if (not_negative->bounds.hi == 0) {  // this equality is learnt as a fact of its own
    const std::size_t count = facts_.size();
    facts_.add(eq(not_negative, pool_->constant(0)));
    if (facts_.size() > count) return true;
  }
  for (std::size_t k = 0; k < terms.terms.size(); ++k) {
    const auto& [variable, c] = terms.terms[k];
    if (!variable->is_variable()) continue;
    Interval rest = Interval::point(terms.constant);
    for (std::size_t other = 0; other < terms.terms.size(); ++other) {
      if (other == k) continue;
      rest = rest + Interval::point(terms.terms[other].coefficient) * terms.terms[other].term->bounds;
    }
    if (!rest.has_hi()) continue;
    // c*x >= -rest: x is at least the quotient rounded up (c > 0), or at most the quotient rounded down (c < 0).
    const Interval bound = Interval::point(-rest.hi);
    const Interval step = Interval::point(c);
    const Interval to = c > 0 ? Interval{(-floor_div(-bound, step)).lo, Interval::kInfinity}
                              : Interval{Interval::kMinusInfinity, floor_div(bound, step).hi};
    if (narrow(variable, to)) return true;
  }
  const std::size_t count = facts_.size();
  for (const Expr derived : consequences(not_negative)) {
    if (facts_.size() < kMaxDerivedFacts) facts_.add(ge(derived, pool_->constant(0)));
  }
  return facts_.size() > count;
}

// a != b narrows a range if it excludes one of its ends.
bool Knowledge::learn_difference(Expr a, Expr b) {
  const Expr gap = sub(a, b);
  const Terms terms = terms_of(gap);
  if (terms.terms.size() == 1 && terms.terms[0].term->is_variable()) {
    const auto& [variable, c] = terms.terms[0];
    __extension__ using Wide = __int128;  // -2^63 has no opposite among 64 bits
    if (Wide(terms.constant) % c != 0) return false;
    const Wide hole = -(Wide(terms.constant) / c);
    if (variable->bounds.lo == hole && hole < Interval::kInfinity)
      return narrow(variable, Interval::at_least(static_cast<std::int64_t>(hole) + 1));
    if (variable->bounds.hi == hole && hole > Interval::kMinusInfinity)
      return narrow(variable, {Interval::kMinusInfinity, static_cast<std::int64_t>(hole) - 1});
    return false;
  }
  if (gap->bounds.lo == 0) return learn_inequality(add(gap, -1));
  if (gap->bounds.hi == 0) return learn_inequality(add(neg(gap), -1));
  return false;
}

// Facts that follow together with other facts: an inequality that only equality can satisfy, or a difference whose sign
// is known.
bool Knowledge::examine(Facts::Fact& fact) {
  if (fact.examined || !fact.condition->is_comparison() || fact.condition->kind == Kind::eq) return false;
  fact.examined = true;
  const Expr a = fact.condition->args[0];
  const Expr b = fact.condition->args[1];
  std::vector<Expr> others = facts_.related(fact.condition);
  if (others.size() > 12) return false;
  const auto excluded = [&](Expr condition) {
    std::vector<Expr> conditions = others;
    conditions.push_back(condition);
    return contradicts(conditions, kQuickBudget);
  };
  try {
    if (fact.condition->kind == Kind::ne) {
      const bool not_less = excluded(lt(a, b));
      if (!not_less && !excluded(gt(a, b))) return false;
      fact.condition = not_less ? gt(a, b) : lt(a, b);
      if (fact.condition->kind == Kind::truth && fact.condition->value == 0) Facts::throw_contradiction(ne(a, b));
      fact.examined = false;
      return true;
    }
    const Expr gap = slack_of(fact.condition);
    if (variables_of(gap).size() < 2 || !excluded(opposite_relation(gap, 0))) return false;
    fact.condition = eq(gap, pool_->constant(0));
    if (fact.condition->kind == Kind::truth) fact.condition = eq(gap, gap);
    return true;
  } catch (const OverflowError&) {
    return false;
  }
}

bool Knowledge::narrow(Expr variable, Interval to) {
  const Interval bounds = intersect(variable->bounds, to);
  if (bounds == variable->bounds) return false;
  if (bounds.empty()) {
    throw ArgumentError("symbolic size", "the range of " + std::string(variable->name) + " becomes empty: " +
                                             to_string(variable->bounds) + " and " + to_string(to));
  }
  replace(variable,
          bounds.is_point() ? pool_->constant(bounds.lo) : pool_->symbol(variable->name, bounds, variable->value));
  return true;
}

void Knowledge::replace(Expr variable, Expr by) {
  const bool version = by->is_variable() && by->name == variable->name && by->value == variable->value;
  if (version) meanings_.add_version(variable, by);
  const Replacements replacement{{variable, by}};
  meanings_.replace(replacement);
  const Facts before = std::exchange(facts_, {});
  const Interval bounds = variable->bounds;
  if (!version) {
    if (by->kind == Kind::constant && !bounds.contains(by->value)) Facts::throw_contradiction(eq(variable, by));
    if (bounds.has_lo()) facts_.add(ge(by, pool_->constant(bounds.lo)));
    if (bounds.has_hi()) facts_.add(le(by, pool_->constant(bounds.hi)));
  }
  facts_.add(before, replacement);
}

}  // namespace oriel::sym
