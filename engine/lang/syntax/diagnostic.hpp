// Errors in the text of a comprehension: place, kind, and what would have been accepted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace oriel::lang {

/// A half-open range of bytes in the text.
struct Span {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};

/// The text that spans refer to. `name` is the file's name in messages, or a substitute for it.
struct Source {
  std::string text;
  std::string name = kNoName;

  static constexpr const char* kNoName = "comprehension";  // the substitute for a file's name in messages
};

// X(enumerator, name in messages and JSON)
#define ORIEL_LANG_ERRORS(X)                                \
  X(Parse, "parse_error")                                   \
  X(RankMismatch, "rank_mismatch")                          \
  X(SizeMismatch, "size_mismatch")                          \
  X(UndefinedName, "undefined_name")                        \
  X(UndefinedOutput, "undefined_output")                    \
  X(Redefinition, "redefinition")                           \
  X(DuplicateIndex, "duplicate_index")                      \
  X(ShadowedName, "shadowed_name")                          \
  X(ReservedName, "reserved_name")                          \
  X(NotATensor, "not_a_tensor")                             \
  X(ArityMismatch, "arity_mismatch")                        \
  X(AssignToInput, "assign_to_input")                       \
  X(TemporaryNotListed, "temporary_not_listed")             \
  X(ReductionWithoutOperator, "reduction_without_operator") \
  X(IndexNotIntegral, "index_not_integral")                 \
  X(RangeNotSizeExpr, "range_not_size_expr")                \
  X(DuplicateRange, "duplicate_range")                      \
  X(UnusedVariable, "unused_variable")                      \
  X(UnresolvedVariable, "unresolved_variable")              \
  X(UnconstrainedOutputIndex, "unconstrained_output_index") \
  X(EmptyRange, "empty_range")                              \
  X(NonInterval, "non_interval")                            \
  X(PreconditionViolated, "precondition_violated")          \
  X(ShapeConflict, "shape_conflict")                        \
  X(NarrowingAssignment, "narrowing_assignment")            \
  X(MissingInput, "missing_input")                          \
  X(DTypeMismatch, "dtype_mismatch")                        \
  X(NonZeroOrigin, "non_zero_origin")                       \
  X(NotDifferentiable, "not_differentiable")                \
  X(SymbolicSizes, "open_sizes")                            \
  X(Overflow, "overflow")

enum class ErrorKind : std::uint8_t {
#define ORIEL_LANG_ERROR_ENUM(kind, name) kind,
  ORIEL_LANG_ERRORS(ORIEL_LANG_ERROR_ENUM)
#undef ORIEL_LANG_ERROR_ENUM
};

/// "parse_error", "rank_mismatch", ...
std::string_view name(ErrorKind kind) noexcept;

/// A further place that contributes to the error.
struct Note {
  Span span;
  std::string message;
};

/// The starts of a text's lines, so that many positions need only one pass over it.
class Lines {
 public:
  explicit Lines(std::string_view text);
  struct LineColumn {
    std::size_t line = 1;    // from 1
    std::size_t column = 1;  // in bytes, from 1
    std::size_t begin = 0;   // start of the line in the text
    std::size_t end = 0;     // end of the line, without the line break
  };
  LineColumn place(Span span) const;

 private:
  std::vector<std::size_t> begins_;
  std::size_t size_;
};

/// "file:line:column: label: message", the line with a caret range below it, and the notes in the same form. The text
/// and the file's name are escaped (base/escape.hpp).
std::string diagnostic(const Source& source, const Lines& lines, std::string_view label, Span span,
                       const std::string& message, const std::vector<Note>& notes = {});

/// Throws ComprehensionError with "file:line:column: error: message [kind]", the line with a caret range below it, and
/// the notes in the same form.
[[noreturn]] void fail(const Source& source, ErrorKind kind, Span span, const std::string& message,
                       const std::vector<Note>& notes = {});

}  // namespace oriel::lang
