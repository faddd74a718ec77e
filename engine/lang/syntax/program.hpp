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

#include "lang/syntax/syntax.hpp"
#include "oriel/site.hpp"

namespace oriel::lang {

/// An input, a result, or an assigned tensor that is neither: a temporary.
struct TensorSymbol {
  std::string_view name;
  Span span;  // its first occurrence
  DType dtype = DType::float32;
  std::size_t rank = 0;
  std::int32_t parameter = -1;  // position among the parameters, for an input; else -1
  std::int32_t result = -1;     // position among the results, for a listed result; else -1
  bool assigned = false;        // while checking: assigned by an earlier statement

  bool input() const noexcept { return parameter >= 0; }
};

/// A variable: an index of one statement, which is a loop.
struct Variable {
  std::string_view name;
  Span span;                // first use
  bool left = false;        // occurs on the left; else the statement reduces over it
  std::int32_t range = -1;  // its clause `where v in a:b`, or -1
};

/// A conditional above an access: the access is used only if `condition` has the value `taken`.
struct Guard {
  ExprId condition = kNoExpr;
  bool taken = true;
  friend bool operator==(const Guard&, const Guard&) = default;
};

/// One use of an access in inference. An access in the body of a where clause appears once for each use of the clause.
struct AccessUse {
  ExprId expr = kNoExpr;
  std::vector<Guard> guards;
  bool exists = false;  // below `where exists`: its value is never read
  bool self = false;    // the target where the statement updates it or writes at positions
};

struct CheckedStatement {
  const Statement* syntax = nullptr;
  int line = 0;  // line in the text, from 1
  std::int32_t target = -1;
  bool updates = false;               // it keeps or combines the target's old elements
  bool starts_from_identity = false;  // += on a tensor that no earlier statement assigns
  std::vector<Variable> variables;    // the loops: left indices, then the others in order of first use
  std::size_t left = 0;               // the number of variables that occur on the left
  std::vector<std::int32_t> axes;     // for each dimension of the target its index, or -1 if it is written at positions
  ExprId written = kNoExpr;           // the target at its positions, if there are any; one of the accesses
  std::vector<AccessUse> accesses;
  DType value_dtype = DType::float32;   // dtype in which the right side is reduced
  DType target_dtype = DType::float32;  // dtype of the target after this statement
};

/// A checked definition. Immutable, and shared by all calls.
struct Program {
  std::shared_ptr<const Source> text;  // all string_views below point into it
  Definition definition;
  std::vector<std::string_view> sizes;
  std::vector<TensorSymbol> tensors;
  std::unordered_map<std::string_view, std::int32_t> size_ids;  // positions in the two lists above, by name
  std::unordered_map<std::string_view, std::int32_t> tensor_ids;
  std::vector<CheckedStatement> statements;
  std::vector<std::int32_t> results;  // indices of the result tensors, in the listed order
  std::vector<std::string> warnings;  // "uninitialized_reduction:A"
  bool has_temporaries = false;

  const Source& source() const noexcept { return *text; }
  /// The line of the statement in a named text; for a text without a name `otherwise`, the line of the call.
  Site site(const CheckedStatement& statement, Site otherwise) const;
};

using ProgramPtr = std::shared_ptr<const Program>;

/// All definitions of the text, checked. Throws ComprehensionError for errors that do not depend on shapes. `types` is
/// as for parse().
std::vector<ProgramPtr> check(std::string_view text, std::string_view name = "comprehension",
                              std::span<const DType> types = {});
/// The definition of that name, or the last one if the name is empty. Throws ArgumentError, which lists the names.
ProgramPtr select(const std::vector<ProgramPtr>& programs, std::string_view name);

/// The dtype to which the notation promotes two dtypes: floats win over integers; of one kind the wider wins; of a
/// signed and an unsigned integer, the signed one of the greater width.
DType promote_values(DType a, DType b) noexcept;

/// The definition as text, with indices renamed in order of appearance and blanks normalised. Two definitions that
/// differ only in names of indices, comments and layout have equal texts.
std::string canonical_text(const Program& program);

}  // namespace oriel::lang
