// Expressions as flat programs, which compute values and ranges many times.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "sym/node.hpp"
#include "sym/visit.hpp"

namespace oriel::sym {

/// The symbols and loops in the expressions, by name, each once.
std::vector<Expr> variables_of(std::span<const Expr> roots);
inline std::vector<Expr> variables_of(Expr root) { return variables_of(std::span<const Expr>(&root, 1)); }

using Replacements = std::unordered_map<Expr, Expr>;
/// `root` in canonical form, after each node that is a key is replaced by its value. Replacements are not replaced
/// again.
Expr substitute(Expr root, const Replacements& replacements);
/// The same expression in another pool: `variables` has a node of that pool for each of its variables.
Expr moved(Expr root, Pool& into, const Replacements& variables);

/// The value of an expression for given numbers, or why it has none.
struct Outcome {
  enum class Fault : std::uint8_t { none, zero_divisor, overflow };
  std::int64_t value = 0;
  Fault fault = Fault::none;

  bool is(std::int64_t number) const noexcept { return fault == Fault::none && value == number; }
};

/// Compiled expressions of one pool. An expression is computed in 128 bits if its terms need them. An `and` is false if
/// any side is false, even if another side has a fault. A `select` has only the faults of the side that it takes.
class Program {
 public:
  explicit Program(std::span<const Expr> roots);
  explicit Program(Expr root) : Program(std::span<const Expr>(&root, 1)) {}

  /// The variables whose values are given, in the order of variables_of.
  const std::vector<Expr>& variables() const noexcept { return variables_; }
  /// One outcome for each root, valid until the next call. Conditions give 0 or 1.
  std::span<const Outcome> run(std::span<const std::int64_t> values);
  /// The same into `out`. `work` is memory for steps() outcomes. Thread safety: any thread, with its own memory.
  void run(std::span<const std::int64_t> values, std::span<Outcome> work, std::span<Outcome> out) const;
  std::size_t steps() const noexcept { return steps_.size(); }
  /// A range for each root, valid until the next call: it encloses the values wherever the variables are in `ranges`.
  /// Points at which a divisor is 0 count only if `zero_divisors`: a quotient there may be anything, a remainder is 0.
  std::span<const Interval> ranges(std::span<const Interval> ranges, bool zero_divisors = false);

 private:
  struct Instruction {
    Expr node;
    std::uint32_t first;  // index into arguments_
  };

  void compute_all(std::span<const std::int64_t> values, Outcome* outcomes, std::span<Outcome> out) const;
  Outcome compute(const Instruction& step, const Outcome* outcomes) const;
  Interval enclose(const Instruction& step, bool zero_divisors) const;

  std::vector<Expr> variables_;
  std::vector<Instruction> steps_;
  std::vector<std::uint32_t> arguments_;
  std::vector<std::uint32_t> roots_;
  std::vector<std::uint32_t> computed_;  // the steps that are neither variables nor constants
  std::vector<Outcome> outcomes_;        // those of constants, before the first run
  std::vector<Interval> ranges_;
  std::vector<Outcome> results_;
  std::vector<Interval> result_ranges_;
  std::vector<std::uint32_t> variable_steps_;
};

/// The value of `expr`. Throws OverflowError or ArgumentError (a zero divisor) if it has none, and ArgumentError for a
/// variable without a value.
std::int64_t evaluate(Expr expr, const std::function<std::optional<std::int64_t>(Expr variable)>& value_of);

/// An interval that contains `expr` for all variables in the given ranges, or in their own bounds if `range_of` gives
/// none. Conditions have a range in [0, 1].
Interval range(Expr expr, const std::function<std::optional<Interval>(Expr variable)>& range_of);
inline Interval range(Expr expr) { return expr->bounds; }

}  // namespace oriel::sym
