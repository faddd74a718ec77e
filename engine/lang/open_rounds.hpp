// The rounds of inference inside one statement whose sizes are symbols.
#pragma once

#include <string>
#include <vector>

#include "lang/open_ranges.hpp"

namespace oriel::lang {

/// What all statements of a definition share.
struct OpenState {
  const Program& program;
  OpenInference& out;
  OpenFacts& facts;

  [[noreturn]] void fail(ErrorKind kind, Span span, const std::string& message,
                         const std::vector<Note>& notes = {}) const {
    lang::fail(program.source(), kind, span, message, notes);
  }

  /// Notes a condition unless it always holds. A condition that never holds is an error of this kind.
  void require(OpenPrecondition precondition, ErrorKind kind);
};

/// The ranges of the statement of this number. Adds what they require to the state. Throws ComprehensionError.
OpenStatement infer_open_statement(OpenState& state, std::size_t number);

}  // namespace oriel::lang
