// Ranges of all indices for given shapes, and what has to hold for every access to stay in bounds.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lang/index.hpp"
#include "lang/program.hpp"
#include "oriel/shape.hpp"

namespace oriel::lang {

/// What became of one index expression.
enum class AccessStatus : std::uint8_t {
  Solving,        // a round took a variable's range from it
  Proved,         // in bounds for every point
  Guarded,        // out of bounds somewhere, but never where the conditionals around it take its value
  DataDependent,  // holds a read, and is not in bounds for every value that could come
};

/// One dimension of one access.
struct Condition {
  std::size_t access = 0;  // among the statement's
  std::size_t dimension = 0;
  IndexTree tree;
  Interval target;  // the coordinates that the tensor has there
  AccessStatus status = AccessStatus::Proved;
};

/// What is accepted, but reads less than its program may mean to (ComprehensionWarning names the kinds).
struct RangeWarning {
  enum class Kind : std::uint8_t { PartialRead, NarrowingGuard } kind = Kind::PartialRead;
  std::size_t condition = 0;   // the operand's dimension that is read in part, or the guarded access'
  Interval read;               // of its coordinates
  std::int32_t variable = -1;  // whose range is narrower than this condition alone would have it
  std::int32_t decider = -1;   // the condition that made it so
  std::size_t guard = 0;       // of the guarded access: which one holds everywhere
};

struct StatementRanges {
  std::vector<Interval> ranges;                   // a variable each
  std::vector<std::vector<std::int32_t>> rounds;  // the variables that each round resolved
  std::vector<std::int32_t> lower_by;             // the condition that decided each end; -1 for a where clause
  std::vector<std::int32_t> upper_by;
  std::vector<Condition> conditions;  // access by access, dimension by dimension
  std::vector<std::size_t> first;     // of each access: its first condition; one more behind the last
  std::vector<RangeWarning> warnings;
};

struct Inference {
  std::size_t looked = 0;  // index expressions that the rounds looked at: in proportion to the text's length
  std::vector<std::int64_t> sizes;
  std::vector<StatementRanges> statements;
  std::vector<std::vector<Interval>> boxes;  // the coordinates of each tensor; what is stored at i lies at i - lo
};

/// Values of the size variables. `shapes` are the parameters', none where no argument came. Throws ComprehensionError:
/// missing_input, rank_mismatch, size_mismatch.
std::vector<std::int64_t> bind_sizes(const Program& program, std::span<const std::optional<Shape>> shapes);

/// Infers by rounds. In each round every variable without a range takes the largest interval on which all expressions
/// whose only unresolved variable it is (as of the start of the round) stay in bounds for all values of the resolved
/// ones, if that has two ends; the results count from the next round on. Then all other expressions are checked. Throws
/// ComprehensionError naming the accesses that decided.
Inference infer(const Program& program, std::span<const std::optional<Shape>> shapes);

}  // namespace oriel::lang
