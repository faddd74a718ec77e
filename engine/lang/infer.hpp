// Range inference: the ranges of all indices, and the conditions for every access to stay in bounds. Sizes are
// expressions: constants, or symbols, for which ranges are formulas.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lang/index/index.hpp"
#include "lang/syntax/program.hpp"
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
  IndexRange target;         // the tensor's coordinates along this dimension
  Interval range;            // contains all values of the index; unset if the statement has no points, and for symbols
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
  std::vector<IndexRange> ranges;      // one per variable
  std::vector<Interval> box;           // the same as numbers; empty if a size is a symbol
  std::vector<int> rounds;             // the round that resolved each, from 1; 0 for a where clause, -1 for none
  std::vector<std::int32_t> lower_by;  // the condition that decided the lower end; -1 for a where clause, or several
  std::vector<std::int32_t> upper_by;
  std::vector<Condition> conditions;   // ordered by access, then by dimension
  std::vector<std::size_t> first;      // the first condition of each access, and a last entry for the end
  std::vector<RangeWarning> warnings;  // none if a size is a symbol
};

/// A condition over symbols that must hold.
struct SizePrecondition {
  sym::Expr condition = nullptr;
  std::size_t statement = 0;
  std::int32_t index = -1;  // the condition of the statement (an access's dimension) that asks for it, or -1
  Span span;                // the place in the text that asks for it
  std::string reason;       // "'i' has a value"
  bool exact = true;        // inference with numbers refuses all sizes for which it does not hold
};

struct Inference {
  std::unique_ptr<IndexBuilder> builder;  // owns the expressions
  std::size_t looked = 0;          // index expressions that the rounds visited: proportional to the length of the text
  std::vector<sym::Expr> symbols;  // of sizes that are no numbers, in the order in which they occur
  std::vector<sym::Expr> sizes;    // of the size variables
  std::vector<StatementRanges> statements;
  std::vector<std::vector<IndexRange>> boxes;  // the coordinates of each tensor; coordinate i is at position i - lo
  std::vector<SizePrecondition> preconditions;

  bool symbolic() const noexcept { return !symbols.empty(); }
};

/// A size of an argument: a number, or a symbol of this name and range. Equal names are one size. Without a name the
/// size is called after the parameter's dimension.
struct ArgumentSize {
  std::int64_t value = -1;  // of a number; -1 for a symbol
  std::string name;
  Interval range = Interval::at_least(1);
};
/// The sizes of one argument; nullopt makes all of them symbols.
using ArgumentShape = std::optional<std::vector<ArgumentSize>>;

/// The values of the size variables. `shapes` holds one entry per parameter, nullopt for a missing argument. Throws
/// ComprehensionError: missing_input, rank_mismatch, size_mismatch.
std::vector<std::int64_t> bind_sizes(const Program& program, std::span<const std::optional<Shape>> shapes);

/// Infers ranges by rounds. A round considers each unresolved variable and all expressions in which, at the start of
/// the round, it is the only unresolved one. The variable gets the largest interval on which all of these expressions
/// stay in bounds for all values of the resolved variables, if that interval is bounded. Results take effect in the
/// next round. At the end all other expressions are checked. Throws ComprehensionError, which names the accesses that
/// decided.
Inference infer(const Program& program, std::span<const std::optional<Shape>> shapes);

/// As infer(), for sizes within the ranges of their symbols. Wherever the preconditions hold, the formulas have the
/// values that infer() finds for the numbers. Two conditions are stronger than infer()'s: a where clause must have a
/// value, and a precondition that is not `exact`. Throws ComprehensionError: as infer(), for what is wrong with all
/// sizes; open_sizes if an index has no formula.
Inference infer_symbolic(const Program& program, std::span<const ArgumentShape> shapes);

}  // namespace oriel::lang
