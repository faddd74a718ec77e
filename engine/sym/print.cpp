#include "sym/print.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

namespace oriel::sym {
namespace {

// How tightly an operator binds. An operand that binds less tightly is put in parentheses.
enum Level { kOr = 1, kAnd, kNot, kComparison, kSum, kProduct, kAtom };

// Texts and nodes still to be written; the last one is written next. An explicit stack, because expressions may be of
// any depth.
struct Item {
  Expr node = nullptr;
  Level level = kOr;
  std::string text = {};
};
using Items = std::vector<Item>;  // in reading order

constexpr std::array<const char*, 6> kOperators{" == ", " != ", " < ", " <= ", " > ", " >= "};

void append_list(Items& items, std::span<const Expr> args, Level level, const std::string& separator) {
  for (std::size_t k = 0; k < args.size(); ++k) {
    if (k > 0) items.push_back({.text = separator});
    items.push_back({.node = args[k], .level = level});
  }
}

Items call(std::string name, std::span<const Expr> args) {
  Items items{{.text = std::move(name) + "("}};
  append_list(items, args, kOr, ", ");
  items.push_back({.text = ")"});
  return items;
}

class Writer {
 public:
  explicit Writer(Notation notation) : notebook_(notation == Notation::notebook) {}

  std::string write(Expr root) {
    std::string text;
    Items stack{{.node = root}};
    while (!stack.empty()) {
      const Item item = std::move(stack.back());
      stack.pop_back();
      if (item.node == nullptr) {
        text += item.text;
        continue;
      }
      if (text.size() > kMaxText) return text + "...";
      Items parts = expand(item.node);
      const bool parentheses = level_of(item.node) < item.level;
      if (parentheses) stack.push_back({.text = ")"});
      stack.insert(stack.end(), std::make_move_iterator(parts.rbegin()), std::make_move_iterator(parts.rend()));
      if (parentheses) stack.push_back({.text = "("});
    }
    return text;
  }

 private:
  Level level_of(Expr node) const {
    switch (node->kind) {
      case Kind::constant:
        return node->value < 0 ? kSum : kAtom;
      case Kind::sum:
        return node->value == 0 && node->args.size() == 1 && node->coefficients[0] > 0 ? kProduct : kSum;
      case Kind::product:
        return kProduct;
      case Kind::floor_div:
      case Kind::mod:
        return notebook_ ? kAtom : kProduct;
      case Kind::logical_and:
        return kAnd;
      case Kind::logical_or:
        return kOr;
      case Kind::not_predicate:
        return kNot;
      case Kind::eq:
      case Kind::ne:
        return notebook_ ? kAtom : kComparison;
      default:
        return node->is_comparison() ? kComparison : kAtom;
    }
  }

  Items expand(Expr node) const {
    switch (node->kind) {
      case Kind::constant:
        return {{.text = std::to_string(node->value)}};
      case Kind::truth:
        return {{.text = node->value != 0 ? "True" : "False"}};
      case Kind::symbol:
      case Kind::loop:
        return {{.text = std::string(node->name)}};
      case Kind::floor_div:
        return division("FloorDiv", " // ", node);
      case Kind::mod:
        return division("Mod", " % ", node);
      case Kind::min:
        return call(notebook_ ? "Min" : "min", node->args);
      case Kind::max:
        return call(notebook_ ? "Max" : "max", node->args);
      case Kind::select:
        if (!notebook_) return call("select", node->args);
        return {{.text = "Piecewise(("}, {.node = node->args[1]}, {.text = ", "},      {.node = node->args[0]},
                {.text = "), ("},        {.node = node->args[2]}, {.text = ", True))"}};
      case Kind::product:
        return product(node);
      case Kind::sum:
        return sum(node);
      case Kind::logical_and:
        return joined(node->args, notebook_ ? " & " : " and ", kNot);
      case Kind::logical_or:
        return joined(node->args, notebook_ ? " | " : " or ", notebook_ ? kNot : kAnd);
      case Kind::predicate:
        return call(std::string(node->name), node->args);
      case Kind::not_predicate: {
        Items items = call(std::string(node->name), node->args);
        items.insert(items.begin(), {.text = notebook_ ? "~" : "not "});
        return items;
      }
      default:
        return comparison(node);
    }
  }

  Items comparison(Expr node) const {
    if (notebook_ && node->kind <= Kind::ne) return call(node->kind == Kind::eq ? "Eq" : "Ne", node->args);
    return joined(node->args, kOperators[static_cast<std::size_t>(node->kind) - static_cast<std::size_t>(Kind::eq)],
                  kSum);
  }

  Items division(const char* name, const char* sign, Expr node) const {
    return notebook_ ? call(name, node->args) : joined(node->args, sign, kAtom);
  }

  static Items joined(std::span<const Expr> args, const std::string& separator, Level level) {
    Items items;
    append_list(items, args, level, separator);
    return items;
  }

  Items product(Expr node) const {
    if (!notebook_) return joined(node->args, "*", kAtom);
    Items items;
    for (std::size_t k = 0; k < node->args.size();) {
      const std::size_t first = k;
      while (k < node->args.size() && node->args[k] == node->args[first]) ++k;
      if (first > 0) items.push_back({.text = "*"});
      items.push_back({.node = node->args[first], .level = kAtom});
      if (k - first > 1) items.push_back({.text = "**" + std::to_string(k - first)});
    }
    return items;
  }

  // Appends one term with its sign. `first`: nothing stands before it.
  void append_term(Items& items, Expr term, std::int64_t coefficient, bool first) const {
    const bool negative = coefficient < 0;
    items.push_back({.text = first ? (negative ? "-" : "") : (negative ? " - " : " + ")});
    const std::uint64_t size = negative ? 0 - std::uint64_t(coefficient) : std::uint64_t(coefficient);
    if (size != 1) items.push_back({.text = std::to_string(size) + "*"});
    const bool factors = term->kind == Kind::product;
    const Level level = factors ? kProduct : (size != 1 || (first && negative) ? kAtom : kProduct);
    items.push_back({.node = term, .level = level});
  }

  Items sum(Expr node) const {
    Items items;
    const auto positive = std::ranges::find_if(node->coefficients, [](std::int64_t c) { return c > 0; });
    const std::size_t lead =
        positive == node->coefficients.end() ? node->args.size() : std::size_t(positive - node->coefficients.begin());
    const bool constant_first = lead == node->args.size() && node->value > 0;
    if (constant_first) items.push_back({.text = std::to_string(node->value)});
    if (lead < node->args.size()) append_term(items, node->args[lead], node->coefficients[lead], true);
    for (std::size_t k = 0; k < node->args.size(); ++k) {
      if (k != lead) append_term(items, node->args[k], node->coefficients[k], items.empty());
    }
    if (node->value != 0 && !constant_first) {
      const std::uint64_t size = node->value < 0 ? 0 - std::uint64_t(node->value) : std::uint64_t(node->value);
      items.push_back({.text = (node->value < 0 ? " - " : " + ") + std::to_string(size)});
    }
    return items;
  }

  bool notebook_;
};

}  // namespace

std::string to_string(Expr expr, Notation notation) { return Writer(notation).write(expr); }

}  // namespace oriel::sym
