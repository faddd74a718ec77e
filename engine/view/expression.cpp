#include "view/expression.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "oriel/inline_vector.hpp"
#include "sym/build.hpp"
#include "view/canonical.hpp"
#include "view/plain.hpp"

namespace oriel::detail {
namespace {

/// A common divisor of a and b: for numbers the greatest, for expressions 1.
SymInt gcd(SymInt a, SymInt b) {
  if (identical(a, b)) return a;
  return a.is_symbolic() || b.is_symbolic() ? SymInt(1) : SymInt(std::gcd(a.value(), b.value()));
}

struct Term {
  SymInt coefficient;
  std::size_t atom = 0;
};

/// offset + sum of coefficient * atom, with bounds over the indices at which it is evaluated. These bounds are tighter
/// than those of the nodes, because they use the conditions found so far. The coefficients are SymInts, so comparisons
/// of symbolic ones record guards.
struct Linear {
  SymInt offset;
  InlineVector<Term, 4> terms;  // by rising atom, no coefficient 0
  SymInt least;
  SymInt greatest;
};

/// A node that stands as a unit in linear forms, with its bounds over the indices at which it is evaluated.
struct Atom {
  sym::Expr node = nullptr;
  SymInt least;
  SymInt greatest;
};

/// The condition lower <= value < upper. Either bound may be missing.
struct Condition {
  Linear value;
  std::optional<SymInt> lower;
  std::optional<SymInt> upper;
};

/// The pool of the environment if the stack is symbolic; else null.
sym::Pool* pool_of(std::span<const View> stack) {
  for (const View& view : stack) {
    if (!is_symbolic(view)) continue;
    for (const Ints* sizes : {&view.shape, &view.strides}) {
      for (const SymInt& size : *sizes) {
        if (size.is_symbolic()) return size.node()->pool;
      }
    }
    for (const Range& range : view.mask) {
      for (const SymInt& end : {range.lo, range.hi}) {
        if (end.is_symbolic()) return end.node()->pool;
      }
    }
    return view.offset.node()->pool;
  }
  return nullptr;
}

/// A form divided by a positive number: value == divisor * quotient + rest. If `exact` is set, the rest lies in [0,
/// divisor) at every index, so `quotient` is the floor. Otherwise the rest is only known not to be negative.
struct Division {
  Linear quotient;
  Linear rest;
  bool exact = false;
};

class Builder {
 public:
  StackExpression run(std::span<const View> stack) {
    pool_ = pool_of(stack);
    if (pool_ == nullptr) {
      result_.pool = std::make_unique<sym::Pool>();
      pool_ = result_.pool.get();
    }
    const View& outer = stack.back();
    std::vector<Linear> digits(outer.rank());
    for (std::size_t d = 0; d < outer.rank(); ++d) {
      atoms_.push_back({pool_->loop("i" + std::to_string(d), sym::Interval::at_least(0)), 0, outer.shape[d] - 1});
    }
    for (std::size_t d = 0; d < outer.rank(); ++d) {
      digits[d] = outer.shape[d] == 1 ? constant(0) : of_atom(d);
    }
    for (std::size_t k = stack.size(); k-- > 0;) {
      const View& view = stack[k];
      if (has_zero_extent(view.shape) || has_empty_range(view.mask)) return nothing();
      for (std::size_t d = 0; d < view.mask.size(); ++d) {
        if (!restrict(digits[d], view.mask[d])) return nothing();
      }
      Linear position = constant(view.offset);
      for (std::size_t d = 0; d < view.rank(); ++d) add(position, digits[d], view.strides[d]);
      tighten(position);
      if (k == 0) {
        result_.index = node_of(position);
        break;
      }
      unravel(position, stack[k - 1].shape, digits);
    }
    for (const Atom& atom : atoms_) result_.atoms.push_back(atom.node);
    return std::move(result_);
  }

 private:
  static StackExpression nothing() { return {}; }

  sym::Expr node_of(SymInt number) const {
    return number.is_symbolic() ? number.node() : pool_->constant(number.value());
  }

  sym::Expr node_of(const Linear& form) const {
    if (result_.pool == nullptr) {  // coefficients may be symbolic
      sym::Expr sum = node_of(form.offset);
      for (const Term& term : form.terms)
        sum = sym::add(sum, sym::mul(atoms_[term.atom].node, node_of(term.coefficient)));
      return sum;
    }
    if (form.terms.empty()) return node_of(form.offset);
    if (form.terms.size() == 1 && form.terms[0].coefficient == 1 && form.offset == 0)
      return node_of_atom(form.terms[0]);
    InlineVector<Term, 8> terms(form.terms.begin(), form.terms.end());
    std::sort(terms.begin(), terms.end(),
              [&](const Term& x, const Term& y) { return sym::compare_terms(node_of_atom(x), node_of_atom(y)) < 0; });
    InlineVector<sym::Expr, 8> args;
    InlineVector<std::int64_t, 8> coefficients;
    for (const Term& term : terms) {
      args.push_back(node_of_atom(term));
      coefficients.push_back(term.coefficient.value());
    }
    // sum_of would also compute bounds, which nothing reads here, and which would take most of the time.
    return pool_->intern({.kind = sym::Kind::sum,
                          .degree = 1,
                          .value = form.offset.value(),
                          .args = {args.data(), args.size()},
                          .coefficients = {coefficients.data(), coefficients.size()}});
  }
  sym::Expr node_of_atom(const Term& term) const { return atoms_[term.atom].node; }

  void add_condition(const Condition& condition) {
    const sym::Expr value = node_of(condition.value);
    if (condition.lower) result_.conditions.push_back(comparison(sym::Kind::ge, value, *condition.lower));
    if (condition.upper) result_.conditions.push_back(comparison(sym::Kind::lt, value, *condition.upper));
  }
  sym::Expr comparison(sym::Kind kind, sym::Expr value, SymInt bound) const {
    const sym::Expr args[] = {value, node_of(bound)};
    return pool_->intern({.kind = kind, .bounds = sym::Interval::truth(), .args = args});
  }

  static Linear constant(SymInt value) { return {value, {}, value, value}; }

  Linear of_atom(std::size_t atom) const { return {0, {{1, atom}}, atoms_[atom].least, atoms_[atom].greatest}; }

  /// sum += factor * form
  static void add(Linear& sum, const Linear& form, SymInt factor) {
    if (factor == 0) return;
    sum.offset += factor * form.offset;
    sum.least += factor * (factor > 0 ? form.least : form.greatest);
    sum.greatest += factor * (factor > 0 ? form.greatest : form.least);
    for (const Term& term : form.terms) {
      auto at = std::lower_bound(sum.terms.begin(), sum.terms.end(), term.atom,
                                 [](const Term& t, std::size_t atom) { return t.atom < atom; });
      if (at == sum.terms.end() || at->atom != term.atom) {
        sum.terms.insert(at, {factor * term.coefficient, term.atom});
        continue;
      }
      at->coefficient += factor * term.coefficient;
      if (at->coefficient == 0) sum.terms.erase(at);
    }
  }

  /// Replaces atoms that have a single value by it. Then intersects the bounds of the form with those that its atoms
  /// give, which may be tighter after terms have cancelled.
  void tighten(Linear& form) const {
    const auto known = [&](const Term& term) {
      const Atom& atom = atoms_[term.atom];
      if (atom.least != atom.greatest) return false;
      form.offset += term.coefficient * atom.least;
      return true;
    };
    form.terms.erase(std::remove_if(form.terms.begin(), form.terms.end(), known), form.terms.end());
    SymInt least = form.offset;
    SymInt greatest = form.offset;
    for (const Term& term : form.terms) {
      const Atom& atom = atoms_[term.atom];
      least += term.coefficient * (term.coefficient > 0 ? atom.least : atom.greatest);
      greatest += term.coefficient * (term.coefficient > 0 ? atom.greatest : atom.least);
    }
    if (least > form.least) form.least = least;
    if (greatest < form.greatest) form.greatest = greatest;
  }

  /// Assumes range.lo <= form < range.hi from here on. Adds the part that the bounds do not already imply to the
  /// conditions. False if it cannot hold.
  bool restrict(Linear& form, const Range& range) {
    tighten(form);
    Condition condition{form, {}, {}};
    if (form.least < range.lo) condition.lower = range.lo;
    if (form.greatest >= range.hi) condition.upper = range.hi;
    if (form.greatest < range.lo || form.least >= range.hi) return false;
    if (condition.lower) form.least = range.lo;
    if (condition.upper) form.greatest = range.hi - 1;
    if (!condition.lower && !condition.upper) return true;
    if (form.terms.size() == 1) {
      restrict_atom(form, condition);
      if (form.least > form.greatest) return false;
    }
    add_condition(condition);
    return true;
  }

  /// A condition on a form of one term bounds its atom, so the atom gets tighter bounds everywhere.
  void restrict_atom(Linear& form, Condition& condition) {
    const SymInt c = form.terms[0].coefficient;
    Atom& atom = atoms_[form.terms[0].atom];
    // least <= offset + c * x <= greatest
    const SymInt from = c > 0 ? form.least : form.greatest;
    const SymInt to = c > 0 ? form.greatest : form.least;
    const SymInt lo = -((form.offset - from) / c);
    const SymInt hi = (to - form.offset) / c;
    const bool below = c > 0 ? condition.upper.has_value() : condition.lower.has_value();
    const bool above = c > 0 ? condition.lower.has_value() : condition.upper.has_value();
    condition = {of_atom(form.terms[0].atom), {}, {}};
    if (above) condition.lower = lo;
    if (below) condition.upper = hi + 1;
    if (lo > atom.least) atom.least = lo;
    if (hi < atom.greatest) atom.greatest = hi;
    if (atom.least <= atom.greatest) {
      tighten(form);
    } else {
      form.least = form.greatest + 1;
    }
  }

  /// The digits of `position` in a row-major box of `shape`. Precondition: 0 <= position < numel(shape).
  void unravel(Linear position, const Shape& shape, std::vector<Linear>& digits) {
    const SymInt count = numel(shape);
    if (position.least < 0) position.least = 0;
    if (position.greatest >= count) position.greatest = count - 1;
    digits.assign(shape.size(), constant(0));
    SymInt width = 1;
    for (std::size_t d = shape.size(); d-- > 0;) {
      if (shape[d] == 1) continue;
      Linear quotient = floor_quotient(position, width);
      width *= shape[d];
      if (width == count && quotient.greatest >= shape[d]) quotient.greatest = shape[d] - 1;
      digits[d] = remainder(std::move(quotient), shape[d]);
    }
  }

  /// Tries Theorem L first: the quotient is affine if the linear form of the remainder, read at the unit vectors, stays
  /// in [0, divisor). Otherwise splits off whole multiples and shifts the rest so that it is not negative.
  Division divide(const Linear& form, SymInt divisor) const {
    Division result{constant(0), constant(0), true};
    if (form.least / divisor == form.greatest / divisor) {
      result.quotient = constant(form.least / divisor);
      result.rest = form;
      result.rest.offset -= divisor * result.quotient.offset;
      return result;
    }
    SymInt base = form.offset;
    for (const Term& term : form.terms) base += term.coefficient * atoms_[term.atom].least;
    const SymInt start = base % divisor;
    result.quotient.offset = (base - start) / divisor;
    result.rest.offset = start;
    SymInt least = start;
    SymInt greatest = start;
    for (const Term& term : form.terms) {
      const Atom& atom = atoms_[term.atom];
      const SymInt slope = (start + term.coefficient % divisor) % divisor - start;
      const SymInt reach = slope * (atom.greatest - atom.least);
      (reach < 0 ? least : greatest) += reach;
      split(result, term, slope, divisor, atom.least);
    }
    if (least < 0 || greatest >= divisor) result = divide_loosely(form, divisor);
    result.quotient.least = form.least / divisor;
    result.quotient.greatest = form.greatest / divisor;
    return result;
  }

  Division divide_loosely(const Linear& form, SymInt divisor) const {
    Division result{constant(0), constant(0), false};
    result.rest.offset = form.offset;
    SymInt least = form.offset;
    SymInt greatest = form.offset;
    for (const Term& term : form.terms) {
      const SymInt whole = term.coefficient > 0 ? term.coefficient / divisor : -(-term.coefficient / divisor);
      const SymInt slope = term.coefficient - whole * divisor;
      split(result, term, slope, divisor, 0);
      const Atom& atom = atoms_[term.atom];
      least += slope * (slope > 0 ? atom.least : atom.greatest);
      greatest += slope * (slope > 0 ? atom.greatest : atom.least);
    }
    const SymInt shift = least / divisor;
    result.quotient.offset = shift;
    result.rest.offset -= shift * divisor;
    result.rest.least = least - shift * divisor;
    result.rest.greatest = greatest - shift * divisor;
    return result;
  }

  /// Splits one term into a multiple of the divisor and a slope, relative to its value at atom == origin.
  static void split(Division& result, const Term& term, SymInt slope, SymInt divisor, SymInt origin) {
    const SymInt whole = (term.coefficient - slope) / divisor;
    if (slope != 0) {
      result.rest.terms.push_back({slope, term.atom});
      result.rest.offset -= slope * origin;
    }
    if (whole != 0) {
      result.quotient.terms.push_back({whole, term.atom});
      result.quotient.offset -= whole * origin;
    }
  }

  Linear floor_quotient(Linear form, SymInt divisor) {
    if (divisor == 1) return form;
    tighten(form);
    Division division = divide(form, divisor);
    if (division.exact) return division.quotient;
    const SymInt least = division.quotient.least;
    const SymInt greatest = division.quotient.greatest;
    // floor((g * x + r) / (g * w)) == floor((x + floor(r / g)) / w)
    const SymInt g = common_factor(division.rest, divisor);
    const std::size_t atom = intern(sym::Kind::floor_div, scaled_down(division.rest, g), divisor / g);
    add(division.quotient, of_atom(atom), 1);
    division.quotient.least = least;
    division.quotient.greatest = greatest;
    tighten(division.quotient);
    return division.quotient;
  }

  Linear remainder(Linear form, SymInt divisor) {
    tighten(form);
    if (form.least >= 0 && form.greatest < divisor) return form;
    Division division = divide(form, divisor);
    if (division.exact) {
      Linear digit = std::move(division.rest);
      digit.least = 0;
      digit.greatest = divisor - 1;
      tighten(digit);
      return digit;
    }
    // (g * x + r) % (g * w) == g * ((x + floor(r / g)) % w) + r % g
    const SymInt g = common_factor(division.rest, divisor);
    const SymInt low = division.rest.offset % g;
    const std::size_t atom = intern(sym::Kind::mod, scaled_down(division.rest, g), divisor / g);
    Linear digit = constant(low);
    add(digit, of_atom(atom), g);
    return digit;
  }

  static SymInt common_factor(const Linear& rest, SymInt divisor) {
    SymInt g = divisor;
    for (const Term& term : rest.terms) g = gcd(g, term.coefficient);
    return g;
  }

  static Linear scaled_down(Linear form, SymInt g) {
    for (Term& term : form.terms) term.coefficient = term.coefficient / g;
    form.offset = form.offset / g;
    form.least = form.least / g;
    form.greatest = form.greatest / g;
    return form;
  }

  /// The atom of a quotient or remainder. Equal ones share an atom.
  std::size_t intern(sym::Kind kind, const Linear& operand, SymInt divisor) {
    const sym::Expr args[] = {node_of(operand), node_of(divisor)};
    const bool quotient = kind == sym::Kind::floor_div;
    const sym::Expr node = pool_->intern({.kind = kind, .degree = 1, .args = args});
    for (std::size_t k = 0; k < atoms_.size(); ++k) {
      if (atoms_[k].node == node) return k;
    }
    Atom atom{node, 0, divisor - 1};
    if (quotient) {
      atom.least = operand.least / divisor;
      atom.greatest = operand.greatest / divisor;
    } else if (operand.greatest < atom.greatest) {
      atom.greatest = operand.greatest;
    }
    atoms_.push_back(atom);
    return atoms_.size() - 1;
  }

  sym::Pool* pool_ = nullptr;
  std::vector<Atom> atoms_;  // axes first
  StackExpression result_;
};

}  // namespace

StackExpression express(std::span<const View> innermost_first) { return Builder().run(innermost_first); }

}  // namespace oriel::detail
