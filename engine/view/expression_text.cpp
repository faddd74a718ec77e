// Expressions of stacks as C text.
#include <algorithm>
#include <string>

#include "sym/build.hpp"
#include "sym/print.hpp"
#include "view/expression.hpp"

namespace oriel::detail {
namespace {

class Printer {
 public:
  Printer(const std::vector<sym::Expr>& atoms, const LeafText& leaves) : atoms_(atoms), leaves_(leaves) {}

  std::string sum(sym::Expr node) const {
    const sym::Terms form = terms_of(node);
    if (form.terms.empty()) return number(form.constant);
    std::string text;
    // "5 - i0" rather than "-i0 + 5"
    const bool constant_first = form.terms[0].coefficient < 0 && form.constant > 0;
    if (constant_first) text = number(form.constant);
    for (const auto& [factors, coefficient] : form.terms) {
      const bool negative = coefficient < 0;
      const bool leads = text.empty();
      if (leads) {
        text = negative ? "-" : "";
      } else {
        text += negative ? " - " : " + ";
      }
      const std::int64_t magnitude = negative ? negated(coefficient) : coefficient;
      text += product(factors, magnitude != 1 || (leads && negative));  // a leading minus binds tighter than % and /
      if (magnitude != 1) text += "*" + number(magnitude);
    }
    if (form.constant != 0 && !constant_first) {
      text += form.constant < 0 ? " - " + number(negated(form.constant)) : " + " + number(form.constant);
    }
    return text;
  }

  std::string condition(sym::Expr node) const {
    return sum(node->args[0]) + (node->kind == sym::Kind::ge ? " >= " : " < ") + sum(node->args[1]);
  }

 private:
  std::size_t place_of(sym::Expr atom) const {
    return static_cast<std::size_t>(std::find(atoms_.begin(), atoms_.end(), atom) - atoms_.begin());
  }

  /// Lists the terms in the order of their atoms. Terms without an atom (symbols alone) come last.
  sym::Terms terms_of(sym::Expr node) const {
    sym::Terms form = sym::terms_of(node);
    const auto place = [&](const sym::Terms::Term& term) {
      std::size_t first = atoms_.size();
      for (const sym::Expr factor : sym::factors(term.term)) first = std::min(first, place_of(factor));
      return first;
    };
    const auto before = [&](const auto& a, const auto& b) { return place(a) < place(b); };
    if (!std::is_sorted(form.terms.begin(), form.terms.end(), before))
      std::stable_sort(form.terms.begin(), form.terms.end(), before);
    return form;
  }

  /// Throws OverflowError if the negated value does not fit.
  static std::int64_t negated(std::int64_t value) { return (-SymInt(value)).value(); }

  std::string number(std::int64_t value) const {
    return value < 0 ? "-" + leaves_.number(negated(value)) : leaves_.number(value);
  }

  /// An atom times the symbols of its coefficient.
  std::string product(const sym::Expr& node, bool enclose) const {
    const auto all = sym::factors(node);
    std::string text;
    for (const bool symbols : {false, true}) {
      for (const sym::Expr factor : all) {
        const std::size_t place = place_of(factor);
        if ((place == atoms_.size()) != symbols) continue;
        if (!text.empty()) text += "*";
        text += symbols ? symbol(factor) : atom(place, enclose || all.size() > 1);
      }
    }
    return text;
  }

  std::string symbol(sym::Expr node) const {
    if (leaves_.size) return leaves_.size(node);
    return node->is_variable() ? std::string(node->name) : "(" + sym::to_string(node) + ")";
  }

  std::string atom(std::size_t place, bool enclose) const {
    const sym::Expr node = atoms_[place];
    if (node->kind == sym::Kind::loop) return leaves_.axis(place);
    const sym::Expr operand = node->args[0];
    std::string text = operand->kind == sym::Kind::loop ? sum(operand) : "(" + sum(operand) + ")";
    const bool quotient = node->kind == sym::Kind::floor_div;
    text += quotient ? "/" : "%";
    const sym::Expr divisor = node->args[1];
    text += divisor->kind == sym::Kind::constant ? number(divisor->value) : symbol(divisor);
    if (quotient && leaves_.floors) return "floor(" + text + ")";
    return enclose ? "(" + text + ")" : text;
  }

  const std::vector<sym::Expr>& atoms_;
  const LeafText& leaves_;
};

}  // namespace

LeafText plain_leaves() {
  return {[](std::size_t axis) { return "i" + std::to_string(axis); },
          [](std::int64_t number) { return std::to_string(number); }};
}

std::string index_text(const StackExpression& expression, const LeafText& leaves) {
  if (expression.index == nullptr) return leaves.number(0);
  return Printer(expression.atoms, leaves).sum(expression.index);
}

std::string valid_text(const StackExpression& expression, const LeafText& leaves) {
  if (expression.index == nullptr) return "0";
  if (expression.conditions.empty()) return "1";
  const Printer printer(expression.atoms, leaves);
  std::string text;
  for (const sym::Expr condition : expression.conditions) {
    text += (text.empty() ? "" : " && ") + printer.condition(condition);
  }
  return text;
}

}  // namespace oriel::detail
