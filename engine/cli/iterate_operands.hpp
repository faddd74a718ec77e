// The operands of the text form of `oriel iterate`: "2,3:3,1 + 3", or with symbols "n=4 | n,3 + 3".
#pragma once

#include <string_view>
#include <vector>

#include "cli/guards_session.hpp"
#include "oriel/iterate.hpp"

namespace oriel::cli {

/// Reads operands. Sizes are integers, and expressions over the session's symbols if there is a session. In an
/// expression, write a sum or difference in parentheses: "(n+1),3".
class OperandParser {
 public:
  explicit OperandParser(GuardsSession* session) : session_(session) {}

  /// "2,3", "(2,3)", "()". `operand` is cited in errors. Throws ParseError.
  Ints integers(std::string_view operand, std::string_view text) const;
  /// shape, shape:strides, or either followed by @offset. Throws ParseError and what Layout::make throws.
  IterationOperand operand(std::string_view text) const;
  /// Operands with + between them.
  std::vector<IterationOperand> operands(std::string_view text) const;

 private:
  Layout layout(std::string_view text) const;
  GuardsSession* session_;
};

}  // namespace oriel::cli
