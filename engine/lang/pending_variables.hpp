// The variables of a statement without a range, and the conditions that can give them one.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <utility>
#include <vector>

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

}  // namespace oriel::lang
