// Bounds on a program's values over a box of loop positions, without looking at memory: which points a mask hides, and
// which selects always take the same side.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "codegen/loop_program.hpp"
#include "graph/scalar.hpp"

namespace oriel::codegen {

/// Points [begin, end) of a loop.
struct IndexRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

/// Bounds on a program's values over a box of loops: a range for each outer loop, then for each inner one. Arithmetic,
/// comparisons and selects on positions are bounded; a value from memory may be anything.
///
/// Thread safety: none.
class Bounder {
 public:
  /// `program` and `parameters`, the numbers given at launch, must outlive it.
  Bounder(const LoopProgram& program, std::span<const graph::Scalar> parameters);
  ~Bounder();
  Bounder(const Bounder&) = delete;
  Bounder& operator=(const Bounder&) = delete;

  /// All questions from here on are about this box. The extents must be positive.
  void look_at(std::span<const IndexRange> box);
  /// Is the value -inf at all points, whatever is in memory? False where that is not known for sure.
  bool hidden(ValueId value);
  /// Is the value, a bool, `truth` at all points? False where that is not known for sure.
  bool always(ValueId value, bool truth);
  /// Is any constant -inf? Else nothing is hidden anywhere.
  bool may_hide() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// A program for the boxes in which all of its choices by positions fall one way, and which way that is.
struct SettledChoices {
  struct Choice {
    ValueId condition = kNoValue;  // of the program that it was made of
    bool truth = true;
  };
  std::vector<Choice> choices;
  LoopProgram program;  // without them: values, arguments, accesses and constants have the numbers they had
};

/// Removes selects that depend on positions alone: `where(condition, constant, x)` becomes x. A causal mask,
/// `where(column <= row, x, -inf)`, is x in blocks of columns that all rows see. If both sides are constants, there is
/// one program for each side. Only instructions in stages' loops are examined. Empty if there is no such select.
std::vector<SettledChoices> settle_choices(const LoopProgram& program);

}  // namespace oriel::codegen
