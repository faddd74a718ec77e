// Random expressions over symbols as trees, which are evaluated with Python's meaning, independently of the engine.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace oriel::test {

/// A number or a condition; `op` is 's' for symbol `value`, 'n' for the number `value`, else an operator.
struct Tree {
  char op = 'n';
  std::int64_t value = 0;
  std::vector<Tree> args = {};
};

using Values = std::vector<std::int64_t>;

/// Reads choices from a list of numbers, and zeros after its end. So shrinking the list shrinks what is made from it.
class Tape {
 public:
  explicit Tape(std::vector<int> choices) : choices_(std::move(choices)) {}
  std::int64_t next(std::int64_t count) {
    const int choice = position_ < choices_.size() ? choices_[position_++] : 0;
    return static_cast<std::int64_t>(static_cast<unsigned>(choice) % static_cast<unsigned>(count));
  }
  bool ended() const { return position_ >= choices_.size(); }

 private:
  std::vector<int> choices_;
  std::size_t position_ = 0;
};

inline Tree number_tree(Tape& tape, int symbols, int depth) {
  static constexpr std::int64_t numbers[] = {1, 2, 3, 4, 5, 6, 8, 12, 0};
  const std::int64_t choice = depth == 0 ? tape.next(3) : tape.next(12);
  if (choice < 2) return {'s', tape.next(symbols)};
  if (choice == 2) return {'n', numbers[tape.next(9)]};
  static constexpr char operators[] = {'+', '-', '*', '*', '+', '/', '%', 'm', 'M'};
  const char op = operators[choice - 3];
  Tree left = number_tree(tape, symbols, depth - 1);
  if ((op == '/' || op == '%') && tape.next(3) > 0) return {op, 0, {std::move(left), {'n', numbers[1 + tape.next(7)]}}};
  return {op, 0, {std::move(left), number_tree(tape, symbols, depth - 1)}};
}

inline Tree condition_tree(Tape& tape, int symbols, int depth) {
  static constexpr char comparisons[] = {'=', '!', '<', 'l', '>', 'g'};
  const std::int64_t choice = tape.next(12);
  if (depth > 0 && choice >= 10) {
    return {choice == 10 ? '&' : '|', 0, {condition_tree(tape, symbols, 0), condition_tree(tape, symbols, 0)}};
  }
  if (depth > 0 && choice == 9) return {'~', 0, {condition_tree(tape, symbols, 0)}};
  const char op = comparisons[choice % 6];
  return {op, 0, {number_tree(tape, symbols, 2), number_tree(tape, symbols, static_cast<int>(tape.next(3)))}};
}

inline std::string text_of(const Tree& tree) {
  const auto both = [&](const char* sign) {
    return "(" + text_of(tree.args[0]) + " " + sign + " " + text_of(tree.args[1]) + ")";
  };
  switch (tree.op) {
    case 's':
      return "s" + std::to_string(tree.value);
    case 'n':
      return std::to_string(tree.value);
    case 'm':
    case 'M':
      return (tree.op == 'm' ? "min(" : "max(") + text_of(tree.args[0]) + ", " + text_of(tree.args[1]) + ")";
    case '/':
      return both("//");
    case '=':
      return both("==");
    case '!':
      return both("!=");
    case 'l':
      return both("<=");
    case 'g':
      return both(">=");
    case '&':
      return both("and");
    case '|':
      return both("or");
    case '~':
      return "(not " + text_of(tree.args[0]) + ")";
    default:
      return both(std::string(1, tree.op).c_str());
  }
}

/// nullopt if a divisor is 0. Conditions are 0 or 1. Both sides of `and` and `or` are computed.
inline std::optional<std::int64_t> value_of(const Tree& tree, const Values& values) {
  if (tree.op == 's') return values[static_cast<std::size_t>(tree.value)];
  if (tree.op == 'n') return tree.value;
  const auto first = value_of(tree.args[0], values);
  if (!first) return std::nullopt;
  const std::int64_t a = *first;
  if (tree.op == '~') return a == 0;
  const auto second = value_of(tree.args[1], values);
  if (!second) return std::nullopt;
  const std::int64_t b = *second;
  switch (tree.op) {
    case '+':
      return a + b;
    case '-':
      return a - b;
    case '*':
      return a * b;
    case 'm':
      return std::min(a, b);
    case 'M':
      return std::max(a, b);
    case '=':
      return a == b;
    case '!':
      return a != b;
    case '<':
      return a < b;
    case 'l':
      return a <= b;
    case '>':
      return a > b;
    case 'g':
      return a >= b;
    case '&':
      return a != 0 && b != 0;
    case '|':
      return a != 0 || b != 0;
    default: {
      if (b == 0) return std::nullopt;
      std::int64_t q = a / b;
      while (q * b > a && b > 0) --q;
      while (q * b < a && b < 0) --q;
      return tree.op == '/' ? q : a - q * b;
    }
  }
}

/// Calls `f(values)` for every choice of values[k] in [lo[k], hi[k]].
template <class F>
void for_each_values(const Values& lo, const Values& hi, F f) {
  Values values = lo;
  while (true) {
    f(values);
    std::size_t k = 0;
    while (k < values.size() && values[k] == hi[k]) {
      values[k] = lo[k];
      ++k;
    }
    if (k == values.size()) return;
    ++values[k];
  }
}

}  // namespace oriel::test
