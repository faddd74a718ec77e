// Range inference for sizes that are not numbers: ranges as formulas, and the conditions under which they hold.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lang/index/open_bounds.hpp"
#include "lang/infer.hpp"

namespace oriel::lang {

/// A size of an argument: a number, or an open size of this name and range. Equal names are one size. Without a name
/// the size is called after the parameter's dimension.
struct OpenSize {
  std::int64_t value = -1;  // of a number; -1 for an open size
  std::string name;
  Interval range = Interval::at_least(1);
};
/// The sizes of one argument; nullopt leaves all of them open.
using OpenShape = std::optional<std::vector<OpenSize>>;

/// A condition over sizes that must hold.
struct OpenPrecondition {
  sym::Expr condition = nullptr;
  std::size_t statement = 0;
  std::int32_t index = -1;  // the condition of the statement (an access's dimension) that asks for it, or -1
  Span span;                // the place in the text that asks for it
  std::string reason;       // "'i' has a value"
  bool exact = true;        // inference with numbers refuses all sizes for which it does not hold
};

/// One dimension of one access.
struct OpenCondition {
  std::size_t access = 0;  // index of the access in its statement
  std::size_t dimension = 0;
  sym::Expr index = nullptr;
  std::vector<std::int32_t> loops;
  bool reads = false;  // contains elements that are read
  OpenRange target;
  AccessStatus status = AccessStatus::Proved;  // Proved: by a precondition, if there is one for it
};

struct OpenStatement {
  std::vector<OpenRange> ranges;       // one per variable
  std::vector<int> rounds;             // the round that resolved each, from 1; 0 for a where clause
  std::vector<std::int32_t> lower_by;  // the condition that decided the lower end; -1 for none or several
  std::vector<std::int32_t> upper_by;
  std::vector<OpenCondition> conditions;  // ordered by access, then by dimension
  std::vector<std::size_t> first;         // the first condition of each access, and a last entry for the end
};

struct OpenInference {
  std::unique_ptr<IndexBuilder> builder;  // owns the expressions
  std::vector<sym::Expr> open;            // the symbols, in the order in which they occur
  std::vector<sym::Expr> sizes;           // of the size variables
  std::vector<OpenStatement> statements;
  std::vector<std::vector<OpenRange>> boxes;  // the coordinates of each tensor
  std::vector<OpenPrecondition> preconditions;
};

/// As infer(), by the same rounds, for sizes within the ranges of their symbols. Wherever the preconditions hold, the
/// formulas have the values that infer() finds for the numbers. Two conditions are stronger than infer()'s: a where
/// clause must have a value, and a precondition that is not `exact`. Throws ComprehensionError: as infer(), for what is
/// wrong with all sizes; open_sizes if an index has no formula.
OpenInference infer_open(const Program& program, std::span<const OpenShape> shapes);

}  // namespace oriel::lang
