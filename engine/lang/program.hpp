// A checked definition: every name resolved, every expression typed, independent of shapes.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "lang/syntax.hpp"
#include "oriel/site.hpp"

namespace oriel::lang {

/// An input, a result, or an assigned tensor that is neither: a temporary.
struct TensorSymbol {
  std::string_view name;
  Span span;  // where it came up first
  DType dtype = DType::float32;
  std::size_t rank = 0;
  std::int32_t parameter = -1;  // of an input
  std::int32_t result = -1;     // of a listed result
  bool assigned = false;        // while checking: by a statement before

  bool input() const noexcept { return parameter >= 0; }
};

/// An index of one statement: its loop.
struct Variable {
  std::string_view name;
  Span span;                // first use
  bool left = false;        // stands left: an axis of the target. Else a reduction runs over it
  std::int32_t range = -1;  // the clause `where v in a:b`
};

/// A conditional that an access stands below: `condition` must be `taken` for its value to count.
struct Guard {
  ExprId condition = kNoExpr;
  bool taken = true;
  friend bool operator==(const Guard&, const Guard&) = default;
};

/// One access, where it takes part in inference. What where clauses named appears at each of its uses.
struct AccessUse {
  ExprId expr = kNoExpr;
  std::vector<Guard> guards;
  bool exists = false;  // below `where exists`: its value is never read
  bool self = false;    // an update reads its target
};

struct CheckedStatement {
  const Statement* syntax = nullptr;
  int line = 0;  // of the text, from 1
  std::int32_t target = -1;
  bool updates = false;               // reads the target's old elements by its operator
  bool starts_from_identity = false;  // += on what no statement assigned before
  std::vector<Variable> variables;    // the loops: left indices, then the others in order of first use
  std::size_t left = 0;               // how many stand left
  std::vector<AccessUse> accesses;
  DType value_dtype = DType::float32;   // of the right side as it is reduced
  DType target_dtype = DType::float32;  // of the target after this statement
};

/// Immutable once made; shared by all who call it.
struct Program {
  std::shared_ptr<const Source> text;  // which all views below point into
  Definition definition;
  std::vector<std::string_view> sizes;
  std::vector<TensorSymbol> tensors;
  std::unordered_map<std::string_view, std::int32_t> size_ids;  // places in the two lists above, by name
  std::unordered_map<std::string_view, std::int32_t> tensor_ids;
  std::vector<CheckedStatement> statements;
  std::vector<std::int32_t> results;  // tensors, as listed
  std::vector<std::string> warnings;  // "uninitialized_reduction:A"
  bool has_temporaries = false;

  const Source& source() const noexcept { return *text; }
  /// Where the statement stands in a named text, or `otherwise`, the line of the call, for a text without a name.
  Site site(const CheckedStatement& statement, Site otherwise) const;
};

using ProgramPtr = std::shared_ptr<const Program>;

/// All definitions of the text, checked. Throws ComprehensionError for what needs no shapes to be seen as wrong.
/// `types`: as for parse().
std::vector<ProgramPtr> check(std::string_view text, std::string_view name = "comprehension",
                              std::span<const DType> types = {});
/// The definition of that name, or the last one for an empty name. Throws ArgumentError listing the names.
ProgramPtr select(const std::vector<ProgramPtr>& programs, std::string_view name);

/// Where a value of each of two dtypes goes in the notation: floats before integers, the wider of one kind, the signed
/// of two widths for mixed signedness.
DType promote_values(DType a, DType b) noexcept;

/// The definition as text, with indices renamed in order of their appearance and blanks made even: equal for two
/// definitions that differ in names of indices, comments and layout alone.
std::string canonical_text(const Program& program);

}  // namespace oriel::lang
