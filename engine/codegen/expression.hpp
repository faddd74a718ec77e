// Accesses as C text over named loop variables: what dumps show and renderers print.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "codegen/loop_program.hpp"
#include "view/expression.hpp"

namespace oriel::codegen {

/// Writes a number of an expression: one that is not negative, or a symbolic size.
using NumberText = std::function<std::string(SymInt number)>;
/// In decimal digits; a symbolic size by the names of its symbols.
std::string plain_number(SymInt number);

/// The position of an element and the condition under which there is one ("1": always, "0": never), as integer
/// expressions in C syntax. The position may be evaluated only where the condition holds. Quotients and remainders
/// appear only where no bound shows them away, and are of non-negative numbers.
struct AccessText {
  std::string index;
  std::string valid;
};

/// The same as a structure, for renderers that write its numbers in their own way.
class AccessExpression {
 public:
  /// names[d] stands for loop d; a name may be an expression in parentheses. Throws OverflowError where
  /// a coefficient does not fit.
  AccessExpression(const Access& access, std::span<const std::string> names);

  /// `number` is asked once for each number of the text, in its order.
  std::string index(const NumberText& number = plain_number) const;
  std::string valid(const NumberText& number = plain_number) const;

 private:
  detail::LeafText leaves(const NumberText& number) const;

  detail::StackExpression expression_;
  std::vector<std::string> names_;
};

/// Both, with plain numbers:
///
///   expression(Access(0, DType::float32, ShapeTracker({4, 6}).permute({1, 0})), {"o0", "r0"})
///   // index "o0 + r0*6", valid "1"
AccessText expression(const Access& access, std::span<const std::string> names);

/// o0, o1, ... for the outer loops, then r0, r1, ... for the inner ones.
std::vector<std::string> loop_names(std::size_t outer, std::size_t inner);

}  // namespace oriel::codegen
