#include "view/expression.hpp"

#include <algorithm>
#include <numeric>

#include "sym/node.hpp"
#include "view/canonical.hpp"

namespace oriel::detail {
namespace {

/// A common divisor; of numbers the greatest.
SymInt gcd(SymInt a, SymInt b) {
  if (identical(a, b)) return a;
  return a.is_symbolic() || b.is_symbolic() ? SymInt(1) : SymInt(std::gcd(a.value(), b.value()));
}

/// A form divided by a positive number: value == divisor * quotient + rest. Where `exact` the rest lies in [0, divisor)
/// at every index, so that `quotient` is the floor; otherwise the rest is only known to be non-negative.
struct Division {
  Linear quotient;
  Linear rest;
  bool exact = false;
};

class Builder {
 public:
  StackExpression run(std::span<const View> stack) {
    const View& outer = stack.back();
    std::vector<Linear> digits(outer.rank());
    result_.atoms.resize(outer.rank());
    for (std::size_t d = 0; d < outer.rank(); ++d) {
      result_.atoms[d].axis = d;
      result_.atoms[d].greatest = outer.shape[d] - 1;
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
        result_.index = std::move(position);
        break;
      }
      unravel(position, stack[k - 1].shape, digits);
    }
    return std::move(result_);
  }

 private:
  StackExpression nothing() {
    StackExpression never;
    never.never = true;
    return never;
  }

  static Linear constant(SymInt value) { return {value, {}, value, value}; }

  Linear of_atom(std::size_t atom) const {
    return {0, {{1, atom}}, result_.atoms[atom].least, result_.atoms[atom].greatest};
  }

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

  /// Folds atoms of one known value, and bounds the form by its atoms too, which know what cancelled terms did not.
  void tighten(Linear& form) const {
    const auto known = [&](const Term& term) {
      const Atom& atom = result_.atoms[term.atom];
      if (atom.least != atom.greatest) return false;
      form.offset += term.coefficient * atom.least;
      return true;
    };
    form.terms.erase(std::remove_if(form.terms.begin(), form.terms.end(), known), form.terms.end());
    SymInt least = form.offset;
    SymInt greatest = form.offset;
    for (const Term& term : form.terms) {
      const Atom& atom = result_.atoms[term.atom];
      least += term.coefficient * (term.coefficient > 0 ? atom.least : atom.greatest);
      greatest += term.coefficient * (term.coefficient > 0 ? atom.greatest : atom.least);
    }
    if (least > form.least) form.least = least;
    if (greatest < form.greatest) form.greatest = greatest;
  }

  /// Requires range.lo <= form < range.hi from here on; records what the bounds leave open. False if it cannot hold.
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
    result_.conditions.push_back(std::move(condition));
    return true;
  }

  /// A condition on one term is one on its atom, which then has tighter bounds everywhere.
  void restrict_atom(Linear& form, Condition& condition) {
    const SymInt c = form.terms[0].coefficient;
    Atom& atom = result_.atoms[form.terms[0].atom];
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

  /// Theorem L first: the quotient is affine if the remainder form seen at the unit vectors stays in [0, divisor).
  /// Otherwise whole multiples are split off and the rest is shifted up to be non-negative.
  Division divide(const Linear& form, SymInt divisor) const {
    Division result{constant(0), constant(0), true};
    if (form.least / divisor == form.greatest / divisor) {
      result.quotient = constant(form.least / divisor);
      result.rest = form;
      result.rest.offset -= divisor * result.quotient.offset;
      return result;
    }
    SymInt base = form.offset;
    for (const Term& term : form.terms) base += term.coefficient * result_.atoms[term.atom].least;
    const SymInt start = base % divisor;
    result.quotient.offset = (base - start) / divisor;
    result.rest.offset = start;
    SymInt least = start;
    SymInt greatest = start;
    for (const Term& term : form.terms) {
      const Atom& atom = result_.atoms[term.atom];
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
      const Atom& atom = result_.atoms[term.atom];
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

  /// Splits one term into divisor * quotient + slope, both counted from atom == origin.
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
    const std::size_t atom = intern(Atom::Kind::Quotient, scaled_down(division.rest, g), divisor / g);
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
    const std::size_t atom = intern(Atom::Kind::Remainder, scaled_down(division.rest, g), divisor / g);
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

  /// The atom of that kind, made once.
  std::size_t intern(Atom::Kind kind, Linear operand, SymInt divisor) {
    for (std::size_t k = 0; k < result_.atoms.size(); ++k) {
      const Atom& atom = result_.atoms[k];
      if (atom.kind == kind && atom.divisor == divisor && atom.operand.offset == operand.offset &&
          atom.operand.terms == operand.terms) {
        return k;
      }
    }
    Atom atom;
    atom.kind = kind;
    atom.divisor = divisor;
    if (kind == Atom::Kind::Quotient) {
      atom.least = operand.least / divisor;
      atom.greatest = operand.greatest / divisor;
    } else {
      atom.greatest = divisor - 1;
      if (operand.greatest < atom.greatest) atom.greatest = operand.greatest;
    }
    atom.operand = std::move(operand);
    result_.atoms.push_back(std::move(atom));
    return result_.atoms.size() - 1;
  }

  StackExpression result_;
};

class Printer {
 public:
  Printer(const std::vector<Atom>& atoms, const LeafText& leaves) : atoms_(atoms), leaves_(leaves) {}

  std::string linear(const Linear& form) const {
    if (form.terms.empty()) return number(form.offset);
    std::string text;
    // "5 - i0" rather than "-i0 + 5"
    const bool offset_first = form.terms[0].coefficient < 0 && form.offset > 0;
    if (offset_first) text = number(form.offset);
    for (const Term& term : form.terms) {
      const bool negative = term.coefficient < 0;
      const bool leads = text.empty();
      if (leads) {
        text = negative ? "-" : "";
      } else {
        text += negative ? " - " : " + ";
      }
      const SymInt magnitude = negative ? -term.coefficient : term.coefficient;
      text += atom(term.atom, magnitude != 1 || (leads && negative));  // a leading minus binds tighter than % and /
      if (magnitude != 1) text += "*" + number(magnitude);
    }
    if (form.offset != 0 && !offset_first) {
      text += form.offset < 0 ? " - " + number(-form.offset) : " + " + number(form.offset);
    }
    return text;
  }

  std::string number(SymInt value) const { return value < 0 ? "-" + leaves_.number(-value) : leaves_.number(value); }

 private:
  std::string atom(std::size_t k, bool enclose) const {
    const Atom& atom = atoms_[k];
    if (atom.kind == Atom::Kind::Axis) return leaves_.axis(atom.axis);
    const Linear& operand = atom.operand;
    const bool variable = operand.terms.size() == 1 && operand.terms[0].coefficient == 1 && operand.offset == 0 &&
                          atoms_[operand.terms[0].atom].kind == Atom::Kind::Axis;
    std::string text = variable ? linear(operand) : "(" + linear(operand) + ")";
    text += (atom.kind == Atom::Kind::Quotient ? "/" : "%") + number(atom.divisor);
    return enclose ? "(" + text + ")" : text;
  }

  const std::vector<Atom>& atoms_;
  const LeafText& leaves_;
};

}  // namespace

LeafText plain_leaves() {
  return {[](std::size_t axis) { return "i" + std::to_string(axis); },
          [](SymInt number) {
            const std::string text = to_string(number);
            return number.is_symbolic() && !number.node()->is_variable() ? "(" + text + ")" : text;
          }};
}

StackExpression express(std::span<const View> innermost_first) { return Builder().run(innermost_first); }

std::string index_text(const StackExpression& expression, const LeafText& leaves) {
  return Printer(expression.atoms, leaves).linear(expression.index);
}

std::string valid_text(const StackExpression& expression, const LeafText& leaves) {
  if (expression.never) return "0";
  if (expression.conditions.empty()) return "1";
  const Printer printer(expression.atoms, leaves);
  std::string text;
  const auto add = [&](const Condition& condition, const char* sign, SymInt bound) {
    text += (text.empty() ? "" : " && ") + printer.linear(condition.value) + sign;
    text += printer.number(bound);
  };
  for (const Condition& condition : expression.conditions) {
    if (condition.lower) add(condition, " >= ", *condition.lower);
    if (condition.upper) add(condition, " < ", *condition.upper);
  }
  return text;
}

}  // namespace oriel::detail
