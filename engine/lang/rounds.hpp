// The rounds of inference inside one statement.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lang/index/solve.hpp"
#include "lang/index/symbolic_solve.hpp"
#include "lang/infer.hpp"

namespace oriel::lang {

/// A condition is ready if its index expression reads no tensor and has one unresolved variable. Calls with conditions
/// take those that were counted.
class PendingVariables {
 public:
  explicit PendingVariables(std::size_t variables) : resolved_(variables, 0) {}

  bool resolved(std::size_t v) const { return resolved_[v] != 0; }
  /// One for each variable; 0: not resolved.
  std::span<const char> resolved() const { return resolved_; }
  /// Of a variable that a where clause gives a range.
  void set_resolved(std::size_t v) { resolved_[v] = 1; }

  /// Records which expressions name each variable, and the number of unresolved variables of each expression.
  void count(const std::vector<Condition>& conditions);
  /// The variables that got a new ready condition since the last call.
  std::set<std::int32_t> take_tried() { return std::exchange(tried_next_, {}); }
  /// The ready conditions of a variable in ascending order.
  const std::vector<std::size_t>& look(std::int32_t v);
  const std::vector<std::size_t>& ready(std::int32_t v) const { return ready_[static_cast<std::size_t>(v)]; }
  /// Resolves variables together and finds the conditions that are ready then.
  void resolve(const std::vector<Condition>& conditions, std::span<const std::int32_t> solved);
  /// The only unresolved variable of the expression, -1 for none, -2 for several.
  std::int32_t only_unknown(const Condition& condition) const;

  /// How many expressions were visited.
  std::size_t visited() const noexcept { return visited_; }

 private:
  void make_ready(const std::vector<Condition>& conditions, std::size_t condition);

  std::size_t visited_ = 0;  // expressions that the rounds visited
  std::vector<char> resolved_;
  std::vector<std::size_t> unknown_;             // each condition's unresolved variables; 0 if it reads a tensor
  std::vector<std::vector<std::size_t>> of_;     // the conditions that name each variable and read nothing
  std::vector<std::vector<std::size_t>> ready_;  // the conditions in of_ without another unresolved variable
  std::set<std::int32_t> tried_next_;            // variables that got a new entry in ready_
};

/// What all statements of a definition share.
struct InferenceState {
  const Program& program;
  Inference& out;
  SizeFacts facts = {};
  Budget budget = {};

  [[noreturn]] void fail(ErrorKind kind, Span span, const std::string& message,
                         const std::vector<Note>& notes = {}) const {
    lang::fail(program.source(), kind, span, message, notes);
  }

  /// Notes a condition unless it always holds. A condition that never holds is an error of this kind.
  void require(SizePrecondition precondition, ErrorKind kind);
};

/// The ranges of the statement of this number. `zero_input`: a tensor without elements may leave a variable no value.
/// Adds what the ranges require of symbols to the state. Throws ComprehensionError, detail::ArithmeticOverflow,
/// OverflowError.
StatementRanges infer_statement(InferenceState& state, std::size_t number, bool zero_input);

}  // namespace oriel::lang
