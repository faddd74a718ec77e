// The rounds of inference inside one statement.
#pragma once

#include <string>
#include <vector>

#include "lang/index/solve.hpp"
#include "lang/index/symbolic_solve.hpp"
#include "lang/infer.hpp"

namespace oriel::lang {

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
