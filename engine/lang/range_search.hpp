// The range of one variable, from the conditions that can give it one.
#pragma once

#include <string>
#include <vector>

#include "lang/index/solve.hpp"
#include "lang/pending_variables.hpp"
#include "lang/syntax/diagnostic.hpp"

namespace oriel::lang {

/// Searches the largest interval of one variable on which its ready conditions hold for all values of the resolved
/// variables. A condition that brings an end closer is recorded as the condition that decided this end.
class RangeSearch {
 public:
  /// `zero_input`: a tensor without elements may leave the variable no value.
  RangeSearch(const Program& program, const CheckedStatement& statement, bool zero_input,
              const PendingVariables& pending, Budget& budget, StatementRanges& out, std::int32_t variable)
      : p_(program),
        s_(statement),
        zero_input_(zero_input),
        pending_(pending),
        budget_(budget),
        out_(out),
        v_(static_cast<std::size_t>(variable)) {}

  /// Records the range and the conditions that decided it. False if the conditions do not bound the variable. Throws
  /// ComprehensionError (empty_range, non_interval), detail::ArithmeticOverflow, OverflowError.
  bool run(const std::vector<std::size_t>& mine);

 private:
  [[noreturn]] void fail(ErrorKind kind, const std::string& message) const;
  const Variable& variable() const { return s_.variables[v_]; }
  bool vacuous(std::size_t condition) const;
  void narrow(Interval by, std::size_t condition);
  bool none_in_trial(std::int32_t id, const std::vector<std::size_t>& conditions, Interval hull);
  bool empty(Interval ends);
  std::vector<Note> deciders() const;

  const Program& p_;
  const CheckedStatement& s_;
  bool zero_input_;
  const PendingVariables& pending_;
  Budget& budget_;
  StatementRanges& out_;
  std::size_t v_;
  Interval ends_;
};

}  // namespace oriel::lang
