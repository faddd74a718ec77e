#include "lang/index/symbolic_solve.hpp"

#include <algorithm>

#include "sym/build.hpp"
#include "sym/refute.hpp"

namespace oriel::lang {

using sym::Kind;

namespace {

/// The most linear systems for one proof.
constexpr int kProofBudget = 24;

bool names_loop(sym::Expr e, std::int64_t loop) {
  return std::ranges::any_of(sym::variables_of(e), [&](sym::Expr variable) {
    return variable->kind == Kind::loop && variable->value == loop;
  });
}

bool share_variables(sym::Expr a, sym::Expr b, std::int64_t but) {
  const std::vector<sym::Expr> left = sym::variables_of(a);
  return std::ranges::any_of(sym::variables_of(b), [&](sym::Expr variable) {
    if (is_size_symbol(variable) || (variable->kind == Kind::loop && variable->value == but)) return false;
    return std::ranges::find(left, variable) != left.end();
  });
}

sym::Expr number(sym::Expr like, std::int64_t n) { return like->pool->constant(n); }

// The product of `e` with bounds and a factor of sizes.
ExprBounds scaled(ExprBounds e, sym::Expr factor, SizeFacts& facts) {
  const auto times = [&](sym::Expr end) { return end == nullptr ? nullptr : sym::mul(end, factor); };
  if (facts.proves(sym::ge(factor, number(factor, 0)))) return {times(e.lo), times(e.hi)};
  if (facts.proves(sym::le(factor, number(factor, 0)))) return {times(e.hi), times(e.lo)};
  return {};
}

ExprBounds enclose_product(sym::Expr e, std::span<const IndexRange> box, SizeFacts& facts) {
  ExprBounds out{number(e, 1), number(e, 1)};
  sym::Expr factor = number(e, 1);
  bool first = true;
  for (const sym::Expr arg : e->args) {
    if (has_only_sizes(arg)) {
      factor = sym::mul(factor, arg);
      continue;
    }
    const ExprBounds next = enclose(arg, box, facts);
    if (first) {
      out = next;
      first = false;
      continue;
    }
    const auto positive = [&](ExprBounds of) {
      return of.lo != nullptr && of.hi != nullptr && facts.proves(sym::ge(of.lo, number(e, 0)));
    };
    if (!positive(out) || !positive(next)) return {};
    out = {sym::mul(out.lo, next.lo), sym::mul(out.hi, next.hi)};
  }
  return scaled(out, factor, facts);
}

/// A product as `factor`, which has only sizes, times one other expression. `of` is null if it has no such form.
struct Multiple {
  sym::Expr factor = nullptr;
  sym::Expr of = nullptr;
};

Multiple as_multiple(sym::Expr product) {
  Multiple out{number(product, 1), nullptr};
  for (const sym::Expr arg : product->args) {
    if (has_only_sizes(arg)) {
      out.factor = sym::mul(out.factor, arg);
    } else if (out.of == nullptr) {
      out.of = arg;
    } else {
      return {};
    }
  }
  return out;
}

ExprBounds enclose_remainder(sym::Expr e, std::span<const IndexRange> box, SizeFacts& facts) {
  const sym::Expr by = e->args[1];
  if (!has_only_sizes(by) || !facts.proves(sym::ge(by, number(e, 1)))) return {};
  const ExprBounds of = enclose(e->args[0], box, facts);
  if (of.lo != nullptr && of.hi != nullptr && facts.proves(sym::ge(of.lo, number(e, 0))) &&
      facts.proves(sym::lt(of.hi, by))) {
    return of;
  }
  return {number(e, 0), sym::add(by, -1)};
}

}  // namespace

bool SizeFacts::proves(sym::Expr condition) { return proves(condition, {}); }

bool SizeFacts::proves(sym::Expr condition, std::span<const sym::Expr> more) {
  if (condition->kind == Kind::truth) return condition->value != 0;
  if (proofs_left_-- <= 0) return false;
  std::vector<sym::Expr> all{sym::logical_not(condition)};
  all.insert(all.end(), more.begin(), more.end());
  all.insert(all.end(), facts_.begin(), facts_.end());
  return sym::contradicts(all, kProofBudget);
}

sym::Expr SizeFacts::smaller(sym::Expr a, sym::Expr b) {
  if (proves(sym::le(a, b))) return a;
  return proves(sym::le(b, a)) ? b : sym::min(a, b);
}

sym::Expr SizeFacts::greater(sym::Expr a, sym::Expr b) {
  if (proves(sym::ge(a, b))) return a;
  return proves(sym::ge(b, a)) ? b : sym::max(a, b);
}

bool has_only_sizes(sym::Expr e) { return std::ranges::all_of(sym::variables_of(e), is_size_symbol); }

ExprBounds enclose(sym::Expr e, std::span<const IndexRange> box, SizeFacts& facts) {
  if (has_only_sizes(e)) return {e, e};
  switch (e->kind) {
    case Kind::symbol: {  // an element that is read
      const Interval range = e->bounds;
      return {range.has_lo() ? number(e, range.lo) : nullptr, range.has_hi() ? number(e, range.hi) : nullptr};
    }
    case Kind::loop: {
      const IndexRange range = box[static_cast<std::size_t>(e->value)];
      return {range.lo, range.end == nullptr ? nullptr : sym::add(range.end, -1)};
    }
    case Kind::sum: {
      ExprBounds sum{number(e, e->value), number(e, e->value)};
      for (std::size_t k = 0; k < e->args.size(); ++k) {
        const ExprBounds term = scaled(enclose(e->args[k], box, facts), number(e, e->coefficients[k]), facts);
        sum.lo = sum.lo == nullptr || term.lo == nullptr ? nullptr : sym::add(sum.lo, term.lo);
        sum.hi = sum.hi == nullptr || term.hi == nullptr ? nullptr : sym::add(sum.hi, term.hi);
      }
      return sum;
    }
    case Kind::product:
      return enclose_product(e, box, facts);
    case Kind::floor_div: {
      const sym::Expr by = e->args[1];
      if (!has_only_sizes(by) || !facts.proves(sym::ge(by, number(e, 1)))) return {};
      const ExprBounds of = enclose(e->args[0], box, facts);
      return {of.lo == nullptr ? nullptr : sym::floor_div(of.lo, by),
              of.hi == nullptr ? nullptr : sym::floor_div(of.hi, by)};
    }
    case Kind::mod:
      return enclose_remainder(e, box, facts);
    case Kind::min:
    case Kind::max: {
      // A bound of one argument is enough for the upper end of a minimum and the lower end of a maximum.
      const bool least = e->kind == Kind::min;
      ExprBounds out = enclose(e->args[0], box, facts);
      for (const sym::Expr arg : e->args.subspan(1)) {
        const ExprBounds next = enclose(arg, box, facts);
        const auto joined = [&](sym::Expr a, sym::Expr b, bool either) {
          if (a == nullptr || b == nullptr) return !either ? nullptr : a == nullptr ? b : a;
          return least ? facts.smaller(a, b) : facts.greater(a, b);
        };
        out = {joined(out.lo, next.lo, !least), joined(out.hi, next.hi, least)};
      }
      return out;
    }
    case Kind::select: {
      const ExprBounds a = enclose(e->args[1], box, facts);
      const ExprBounds b = enclose(e->args[2], box, facts);
      return {a.lo == nullptr || b.lo == nullptr ? nullptr : facts.smaller(a.lo, b.lo),
              a.hi == nullptr || b.hi == nullptr ? nullptr : facts.greater(a.hi, b.hi)};
    }
    default:
      return e->is_condition() ? ExprBounds{number(e, 0), number(e, 1)} : ExprBounds{};
  }
}

bool SymbolicSolver::has_variable(sym::Expr e) const { return names_loop(e, variable_); }

bool SymbolicSolver::solve(sym::Expr e, IndexRange target) {
  if (!has_variable(e)) {
    const ExprBounds bounds = enclose(e, box_, facts_);
    if ((target.lo != nullptr && bounds.lo == nullptr) || (target.end != nullptr && bounds.hi == nullptr)) return false;
    if (target.lo != nullptr) at_most(target.lo, bounds.lo, required);
    if (target.end != nullptr) at_most(sym::add(bounds.hi, 1), target.end, required);
    return true;
  }
  switch (e->kind) {
    case Kind::loop:
      if (target.lo != nullptr) lows.push_back(target.lo);
      if (target.end != nullptr) ends.push_back(target.end);
      return true;
    case Kind::sum:
      return solve_sum(e, target);
    case Kind::product: {
      const Multiple multiple = as_multiple(e);
      return multiple.of != nullptr &&
             solve_multiple(multiple.of, multiple.factor, target, {number(e, 0), number(e, 0)});
    }
    case Kind::floor_div: {
      const sym::Expr by = e->args[1];
      if (!has_only_sizes(by) || !facts_.proves(sym::ge(by, number(e, 1)))) return false;
      const auto times = [&](sym::Expr end) { return end == nullptr ? nullptr : sym::mul(end, by); };
      return solve(e->args[0], {times(target.lo), times(target.end)});
    }
    case Kind::mod:
      return solve_remainder(e, target);
    case Kind::min:
    case Kind::max:
      return solve_extremum(e, target);
    default:
      return false;
  }
}

// One term may name the variable, and shares no other loop with the rest.
bool SymbolicSolver::solve_sum(sym::Expr e, IndexRange target) {
  sym::Expr term = nullptr;
  std::int64_t coefficient = 0;
  sym::Expr rest = number(e, e->value);
  for (std::size_t k = 0; k < e->args.size(); ++k) {
    if (!has_variable(e->args[k])) {
      rest = sym::add(rest, sym::mul(e->args[k], e->coefficients[k]));
    } else if (term == nullptr) {
      term = e->args[k];
      coefficient = e->coefficients[k];
    } else {
      return false;
    }
  }
  if (share_variables(term, rest, variable_)) return false;
  const ExprBounds around = enclose(rest, box_, facts_);
  sym::Expr factor = number(e, coefficient);
  if (term->kind == Kind::product) {
    const Multiple multiple = as_multiple(term);
    if (multiple.of == nullptr) return false;
    factor = sym::mul(factor, multiple.factor);
    term = multiple.of;
  }
  return solve_multiple(term, factor, target, around);
}

// factor * e + rest lies in the target.
bool SymbolicSolver::solve_multiple(sym::Expr e, sym::Expr factor, IndexRange target, ExprBounds rest) {
  if ((target.lo != nullptr && rest.lo == nullptr) || (target.end != nullptr && rest.hi == nullptr)) return false;
  IndexRange inner;
  if (facts_.proves(sym::ge(factor, number(e, 1)))) {
    const sym::Expr up = sym::add(factor, -1);  // a quotient of x + factor - 1 is rounded up
    if (target.lo != nullptr) inner.lo = sym::floor_div(sym::add(sym::sub(target.lo, rest.lo), up), factor);
    if (target.end != nullptr) inner.end = sym::floor_div(sym::add(sym::sub(target.end, rest.hi), up), factor);
  } else if (facts_.proves(sym::le(factor, number(e, -1)))) {
    const sym::Expr by = sym::neg(factor);
    if (target.lo != nullptr) inner.end = sym::floor_div(sym::add(sym::sub(rest.lo, target.lo), by), by);
    if (target.end != nullptr) inner.lo = sym::floor_div(sym::add(sym::sub(rest.hi, target.end), by), by);
  } else {
    return false;
  }
  return solve(e, inner);
}

// All arguments of a minimum reach the lower end. For the upper end one argument must be known to stay below it.
bool SymbolicSolver::solve_extremum(sym::Expr e, IndexRange target) {
  const bool least = e->kind == Kind::min;
  sym::Expr& some = least ? target.end : target.lo;
  if (some != nullptr) {
    const bool known = std::ranges::any_of(e->args, [&](sym::Expr arg) {
      if (has_variable(arg)) return false;
      const ExprBounds bounds = enclose(arg, box_, facts_);
      const sym::Expr end = least ? bounds.hi : bounds.lo;
      return end != nullptr && facts_.proves(least ? sym::lt(end, some) : sym::ge(end, some));
    });
    if (!known) return false;
    some = nullptr;
  }
  return std::ranges::all_of(e->args, [&](sym::Expr arg) { return solve(arg, target); });
}

// A remainder bounds nothing. That its whole range lies in the target is sufficient, not necessary.
bool SymbolicSolver::solve_remainder(sym::Expr e, IndexRange target) {
  const sym::Expr by = e->args[1];
  if (!has_only_sizes(by) || !facts_.proves(sym::ge(by, number(e, 1)))) return false;
  if (target.lo != nullptr) at_most(target.lo, number(e, 0), required);
  if (target.end != nullptr) at_most(by, target.end, required);
  exact = exact && std::ranges::all_of(required, [&](sym::Expr condition) { return facts_.proves(condition); });
  return true;
}

void at_most(sym::Expr small, sym::Expr large, std::vector<sym::Expr>& out) {
  // a <= min(b, c) is a <= b and a <= c; max(a, b) <= c is a <= c and b <= c.
  if (large->kind == Kind::min) {
    for (const sym::Expr arg : large->args) at_most(small, arg, out);
    return;
  }
  if (small->kind == Kind::max) {
    for (const sym::Expr arg : small->args) at_most(arg, large, out);
    return;
  }
  const sym::Terms terms = sym::terms_of(sym::sub(large, small));
  if (terms.terms.size() == 1 && terms.terms[0].coefficient == 1 && terms.terms[0].term->kind == Kind::floor_div) {
    const sym::Expr quotient = terms.terms[0].term;  // n <= a // b is n*b <= a
    if (quotient->args[1]->is_constant() && quotient->args[1]->value > 0) {
      return at_most(sym::mul(number(small, -terms.constant), quotient->args[1]), quotient->args[0], out);
    }
  }
  sym::Expr left = number(small, 0);
  sym::Expr right = number(small, 0);
  for (const auto& [term, coefficient] : terms.terms) {
    if (coefficient < 0) {
      left = sym::sub(left, sym::mul(term, coefficient));
    } else {
      right = sym::add(right, sym::mul(term, coefficient));
    }
  }
  if (right->is_constant()) return out.push_back(sym::le(left, number(small, terms.constant)));
  left = sym::sub(left, number(small, terms.constant));
  out.push_back(left->is_constant() ? sym::ge(right, left) : sym::le(left, right));
}

}  // namespace oriel::lang
