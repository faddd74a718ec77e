// Comparisons, `and` and `or`; minimum, maximum and selection.
#include <algorithm>
#include <numeric>

#include "oriel/error.hpp"
#include "sym/build.hpp"

namespace oriel::sym {
namespace {

// With more arguments than this, extremes do not compare their arguments with each other.
constexpr std::size_t kMaxCompared = 16;

// A sum of multiples of g is never a number that is not a multiple of g.
bool never_equal(Expr a, Expr b) try {
  const Terms terms = terms_of(sub(a, b));
  std::int64_t g = 0;
  for (const auto& t : terms.terms) {
    if (t.coefficient == Interval::kMinusInfinity) return false;  // it has no opposite
    g = std::gcd(g, t.coefficient);
  }
  return g > 1 && terms.constant % g != 0;
} catch (const OverflowError&) {
  return false;
}

Expr extreme(Kind kind, Expr a, Expr b) {
  Pool& pool = *a->pool;
  std::vector<Expr> args;
  for (const Expr side : {a, b}) {
    if (side->kind == kind) {
      args.insert(args.end(), side->args.begin(), side->args.end());
    } else {
      args.push_back(side);
    }
  }
  std::ranges::sort(args, [](Expr x, Expr y) { return compare(x, y) < 0; });
  args.erase(std::unique(args.begin(), args.end()), args.end());
  const auto loses = [&](Expr x, Expr to) {
    return kind == Kind::max ? difference_range(to, x).lo >= 0 : difference_range(x, to).lo >= 0;
  };
  if (args.size() <= kMaxCompared) {
    for (std::size_t k = args.size(); k-- > 0;) {
      if (std::ranges::any_of(args, [&](Expr to) { return to != args[k] && loses(args[k], to); })) {
        args.erase(args.begin() + std::ptrdiff_t(k));
      }
    }
  }
  if (args.size() == 1) return args[0];
  Interval bounds = args[0]->bounds;
  for (const Expr arg : args) bounds = kind == Kind::max ? max(bounds, arg->bounds) : min(bounds, arg->bounds);
  if (bounds.is_point()) return pool.constant(bounds.lo);
  return pool.intern({.kind = kind, .degree = 1, .bounds = bounds, .args = args});
}

// The order of operands in `and` and `or`. Comparisons are ordered by their sides.
bool stands_before(Expr a, Expr b) {
  if (!a->is_comparison() || !b->is_comparison()) return compare(a, b) < 0;
  for (const std::size_t side : {0, 1}) {
    if (const int order = compare(a->args[side], b->args[side])) return order < 0;
  }
  return compare(a, b) < 0;
}

Expr junction(Kind kind, Expr a, Expr b) {
  Pool& pool = *a->pool;
  const bool neutral = kind == Kind::logical_and;
  std::vector<Expr> args;
  for (const Expr side : {a, b}) {
    if (side->kind == Kind::truth) {
      if ((side->value != 0) != neutral) return side;
    } else if (side->kind == kind) {
      args.insert(args.end(), side->args.begin(), side->args.end());
    } else {
      args.push_back(side);
    }
  }
  std::ranges::sort(args, stands_before);
  args.erase(std::unique(args.begin(), args.end()), args.end());
  if (args.empty()) return pool.truth(neutral);
  if (args.size() == 1) return args[0];
  if (args.size() <= kMaxCompared) {
    for (const Expr arg : args) {
      if (!arg->is_comparison()) continue;
      const Expr opposite = logical_not(arg);
      if (std::ranges::find(args, opposite) != args.end()) return pool.truth(!neutral);
    }
  }
  return pool.intern({.kind = kind, .bounds = Interval::truth(), .args = args});
}

}  // namespace

Expr min(Expr a, Expr b) { return extreme(Kind::min, a, b); }
Expr max(Expr a, Expr b) { return extreme(Kind::max, a, b); }

Expr select(Expr condition, Expr a, Expr b) {
  if (condition->kind == Kind::truth) return condition->value != 0 ? a : b;
  if (a == b) return a;
  const Expr args[] = {condition, a, b};
  return a->pool->intern({.kind = Kind::select, .degree = 1, .bounds = hull(a->bounds, b->bounds), .args = args});
}

Expr relation(Kind kind, Expr a, Expr b) {
  Pool& pool = *a->pool;
  if (const auto known = known_relation(kind, difference_range(a, b), Interval::point(0))) return pool.truth(*known);
  if ((kind == Kind::eq || kind == Kind::ne) && never_equal(a, b)) return pool.truth(kind == Kind::ne);
  const Expr args[] = {a, b};
  return pool.intern({.kind = kind, .bounds = Interval::truth(), .args = args});
}

std::optional<bool> known_relation(Kind comparison, Interval a, Interval b) noexcept {
  switch (comparison) {
    case Kind::eq:
      return known_equal(a, b);
    case Kind::ne: {
      const std::optional<bool> equal = known_equal(a, b);
      return equal ? std::optional(!*equal) : equal;
    }
    case Kind::lt:
      return known_less(a, b);
    case Kind::le:
      return known_less_equal(a, b);
    case Kind::gt:
      return known_less(b, a);
    default:
      return known_less_equal(b, a);
  }
}

Expr slack_of(Expr inequality) {
  const Expr a = inequality->args[0], b = inequality->args[1];
  switch (inequality->kind) {
    case Kind::lt:
      return add(sub(b, a), -1);
    case Kind::le:
      return sub(b, a);
    case Kind::gt:
      return add(sub(a, b), -1);
    default:
      return sub(a, b);
  }
}

Kind negated(Kind comparison) noexcept {
  switch (comparison) {
    case Kind::eq:
      return Kind::ne;
    case Kind::ne:
      return Kind::eq;
    case Kind::lt:
      return Kind::ge;
    case Kind::le:
      return Kind::gt;
    case Kind::gt:
      return Kind::le;
    default:
      return Kind::lt;
  }
}

Expr logical_and(Expr a, Expr b) { return junction(Kind::logical_and, a, b); }
Expr logical_or(Expr a, Expr b) { return junction(Kind::logical_or, a, b); }

Expr logical_not(Expr a) {
  Pool& pool = *a->pool;
  switch (a->kind) {
    case Kind::truth:
      return pool.truth(a->value == 0);
    case Kind::logical_and:
    case Kind::logical_or: {
      // Recursion is bounded: conditions are nested by hand in the program's text.
      const bool conjunction = a->kind == Kind::logical_and;
      Expr result = pool.truth(!conjunction);
      for (const Expr arg : a->args) {
        const Expr opposite = logical_not(arg);
        result = conjunction ? logical_or(result, opposite) : logical_and(result, opposite);
      }
      return result;
    }
    case Kind::predicate:
    case Kind::not_predicate: {
      Node wanted = *a;
      wanted.kind = a->kind == Kind::predicate ? Kind::not_predicate : Kind::predicate;
      return pool.intern(wanted);
    }
    default: {
      Node wanted = *a;
      wanted.kind = negated(a->kind);
      return pool.intern(wanted);
    }
  }
}

Expr predicate(std::string_view name, PredicateFunction function, std::span<const Expr> args, PredicateForm form) {
  Pool& pool = *args.front()->pool;
  std::vector<std::int64_t> values;
  for (const Expr arg : args) {
    if (arg->kind == Kind::constant) values.push_back(arg->value);
  }
  if (values.size() == args.size()) return pool.truth(function(values));
  if (const auto answer = form != nullptr ? form(args) : std::nullopt) return pool.truth(*answer);
  return pool.intern({.kind = Kind::predicate,
                      .bounds = Interval::truth(),
                      .args = args,
                      .name = name,
                      .function = function,
                      .form = form});
}

Expr rebuild(Expr node, std::span<const Expr> args) {
  const auto folded = [&](Expr (*join)(Expr, Expr)) {
    Expr result = args[0];
    for (const Expr arg : args.subspan(1)) result = join(result, arg);
    return result;
  };
  switch (node->kind) {
    case Kind::constant:
    case Kind::truth:
    case Kind::symbol:
    case Kind::loop:
      return node;
    case Kind::floor_div:
      return floor_div(args[0], args[1]);
    case Kind::mod:
      return mod(args[0], args[1]);
    case Kind::min:
      return folded(min);
    case Kind::max:
      return folded(max);
    case Kind::select:
      return select(args[0], args[1], args[2]);
    case Kind::product:
      return folded(mul);
    case Kind::sum: {
      Expr result = args[0]->pool->constant(node->value);
      for (std::size_t k = 0; k < args.size(); ++k) result = add(result, mul(args[k], node->coefficients[k]));
      return result;
    }
    case Kind::logical_and:
      return folded(logical_and);
    case Kind::logical_or:
      return folded(logical_or);
    case Kind::predicate:
      return predicate(node->name, node->function, args, node->form);
    case Kind::not_predicate:
      return logical_not(predicate(node->name, node->function, args, node->form));
    default:
      return relation(node->kind, args[0], args[1]);
  }
}

}  // namespace oriel::sym
