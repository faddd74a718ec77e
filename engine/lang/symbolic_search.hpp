// The ranges of one statement's variables, and the checks of its accesses, where sizes are symbols.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lang/rounds.hpp"

namespace oriel::lang {

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
