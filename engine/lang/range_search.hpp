// The range of one variable, from the conditions that can give it one.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lang/index/solve.hpp"
#include "lang/rounds.hpp"
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

/// What a range or an access requires of the symbols becomes a precondition of the inference, if it is not proved.
class SymbolicSearch {
 public:
  /// `out`: the statement's ranges and conditions, as the rounds find them.
  SymbolicSearch(InferenceState& state, std::size_t number, StatementRanges& out)
      : state_(state), p_(state.program), s_(state.program.statements[number]), number_(number), out_(out) {}

  /// The range of a variable on which its ready conditions hold. False if they do not bound it. Throws
  /// ComprehensionError (open_sizes) if there is no formula.
  bool solve(std::int32_t variable, const std::vector<std::size_t>& ready);
  /// Sets the status of an access from which no range was derived. All ranges are known.
  void check(std::size_t condition);
  /// At least one value of the variable must be left: each of `lows` is below each of `ends`.
  void require_values(std::size_t variable, std::span<const sym::Expr> lows, std::span<const sym::Expr> ends,
                      Span span);

 private:
  const Expr& access_of(const Condition& condition) const { return p_.definition[s_.accesses[condition.access].expr]; }
  Span span_of(const Condition& condition) const {
    return p_.definition[access_of(condition).args[condition.dimension]].span;
  }
  std::string text_of(const Condition& condition) const;
  std::string in_bounds(const Condition& condition) const;
  sym::Expr decisive(std::span<const sym::Expr> ends, std::span<const std::int32_t> of, bool greatest,
                     std::int32_t& by);
  bool guarded(const Condition& condition);

  InferenceState& state_;
  const Program& p_;
  const CheckedStatement& s_;
  std::size_t number_;
  StatementRanges& out_;
};

}  // namespace oriel::lang
