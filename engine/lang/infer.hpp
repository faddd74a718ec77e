// Range inference: the ranges of all indices for given shapes, and the conditions for every access to stay in bounds.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lang/index/index.hpp"
#include "lang/program.hpp"
#include "oriel/shape.hpp"

namespace oriel::lang {

/// The status of one index expression after inference.
enum class AccessStatus : std::uint8_t {
  Solving,        // a round derived a variable's range from it
  Proved,         // in bounds at every point
  Guarded,        // out of bounds at some points, but at none where the conditionals around it use its value
  DataDependent,  // depends on elements read, and is out of bounds for some of their possible values
};

/// One dimension of one access.
struct Condition {
  std::size_t access = 0;  // index of the access in its statement
  std::size_t dimension = 0;
  sym::Expr index = nullptr;
  IndexVariables variables;  // of the index
  Interval target;           // the tensor's coordinates along this dimension
  Interval range;            // contains all values of the index; unset if the statement has no points
  AccessStatus status = AccessStatus::Proved;
};

/// A statement that is accepted but may read less than its author intended (ComprehensionWarning lists the kinds).
struct RangeWarning {
  enum class Kind : std::uint8_t { PartialRead, NarrowingGuard } kind = Kind::PartialRead;
  std::size_t condition = 0;   // the dimension of the operand that is partly read, or of the guarded access
  Interval read;               // the coordinates that are read
  std::int32_t variable = -1;  // the variable whose range is narrower than this condition alone would give
  std::int32_t decider = -1;   // the condition that narrowed it
  std::size_t guard = 0;       // of the guarded access: the guard that is always true
};

struct StatementRanges {
  std::vector<Interval> ranges;                   // one per variable
  std::vector<std::vector<std::int32_t>> rounds;  // the variables that each round resolved
  std::vector<std::int32_t> lower_by;             // the condition that decided the lower end; -1 for a where clause
  std::vector<std::int32_t> upper_by;
  std::vector<Condition> conditions;  // ordered by access, then by dimension
  std::vector<std::size_t> first;     // the first condition of each access, and a last entry for the end
  std::vector<RangeWarning> warnings;
};

struct Inference {
  std::unique_ptr<IndexBuilder> builder;  // owns the index expressions
  std::size_t looked = 0;  // index expressions that the rounds visited: proportional to the length of the text
  std::vector<std::int64_t> sizes;
  std::vector<StatementRanges> statements;
  std::vector<std::vector<Interval>>
      boxes;  // the coordinates of each tensor; coordinate i is stored at position i - lo
};

/// The values of the size variables. `shapes` holds one entry per parameter, nullopt for a missing argument. Throws
/// ComprehensionError: missing_input, rank_mismatch, size_mismatch.
std::vector<std::int64_t> bind_sizes(const Program& program, std::span<const std::optional<Shape>> shapes);

/// Infers ranges by rounds. A round considers each unresolved variable and all expressions in which, at the start of
/// the round, it is the only unresolved one. The variable gets the largest interval on which all of these expressions
/// stay in bounds for all values of the resolved variables, if that interval is bounded. Results take effect in the
/// next round. At the end all other expressions are checked. Throws ComprehensionError, which names the accesses that
/// decided.
Inference infer(const Program& program, std::span<const std::optional<Shape>> shapes);

}  // namespace oriel::lang
