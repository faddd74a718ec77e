// Tensor comprehensions: index notation whose loops are implicit and whose ranges are inferred.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "oriel/api.hpp"
#include "oriel/callback.hpp"
#include "oriel/error.hpp"
#include "oriel/list.hpp"
#include "oriel/settings.hpp"
#include "oriel/shared.hpp"
#include "oriel/tensor.hpp"
#include "oriel/view.hpp"

namespace oriel::lang {
struct CompiledDefinition;
}

namespace ORIEL_API oriel {

/// An error in the text of a comprehension, or arguments that do not fit it. `what()` is formatted like a compiler's
/// diagnostic: file:line:column, the message with its kind in brackets, the source line with the place marked, and
/// notes.
class ComprehensionError : public ParseError {
 public:
  /// `diagnostic` is the whole text, with the place in the source.
  ComprehensionError(const std::string& diagnostic, std::string kind, std::size_t line, std::size_t column)
      : ParseError("comprehension", diagnostic),
        diagnostic_(diagnostic),
        kind_(std::move(kind)),
        line_(line),
        column_(column) {}

  /// The text of what() without the operation's name in front.
  const std::string& diagnostic() const noexcept { return diagnostic_; }
  /// "parse_error", "unresolved_variable", "precondition_violated", ..., so that programs can tell errors apart.
  const std::string& kind() const noexcept { return kind_; }
  /// The line of the error in the text, from 1.
  std::size_t line() const noexcept { return line_; }
  /// The column of the error in bytes, from 1.
  std::size_t column() const noexcept { return column_; }

 private:
  std::string diagnostic_;
  std::string kind_;
  std::size_t line_;
  std::size_t column_;
};

/// A warning: the text is accepted but may not mean what its author intended. `kind` is one of
///   uninitialized_reduction  += (or another reduction) updates a tensor that no earlier statement assigns. It starts
///                            from the operator's identity. Write +=! to state that
///   partial_read             part of an operand is never read, because another access bounds an index that both use.
///                            A where clause for that index states the range explicitly
///   narrowing_guard          a conditional is always true, because inference already keeps the access below it in
///                            bounds. A where clause can give the index a wider range
///   unchecked_gather         positions that are read from a tensor may lie outside the axis they index, and the call
///                            checks none (Bounds::zero): such reads give 0. Clamp the indices with min and max
///   unchecked_scatter        the same of positions that are written: what lies outside is left out
struct ComprehensionWarning {
  std::string kind;           ///< one of the kinds above
  std::size_t statement = 0;  ///< its number in the program, from 0
  std::string tensor;         ///< the operand or the target concerned
  std::size_t line = 0;       ///< position in the text: line, from 1
  std::size_t column = 0;     ///< column in bytes, from 1
  std::size_t length = 0;     ///< length in bytes
  std::string message;        ///< what is wrong, without the place
  std::string diagnostic;     ///< "file:line:column: warning: message [kind]", with the line and its place marked below
};

/// Installs a function that receives the warnings of calls. Without a sink, which is the default, they are dropped. The
/// sink runs in the calling thread, for each warning of the first call with given shapes; it runs again if the cached
/// inference for these shapes has been evicted since. An empty function removes the sink. Thread safety: any thread.
///   oriel::set_comprehension_warning_sink([](const auto& w) { std::cerr << w.diagnostic << '\n'; });
void set_comprehension_warning_sink(Callback<void(const ComprehensionWarning&)> sink);

/// What range inference found for given shapes.
struct ComprehensionRanges {
  /// A loop of a statement: its half-open range, and how inference found it.
  struct Variable {
    std::string name;      ///< the index
    std::int64_t lo = 0;   ///< the first value
    std::int64_t hi = 0;   ///< behind the last value
    int round = 0;         ///< the round of inference that resolved it, from 1; 0 for a where clause
    std::string lower_by;  ///< the access that decided the lower end; empty for a where clause
    std::string upper_by;  ///< the same for the upper end
  };
  /// A statement and its loops.
  struct Statement {
    std::string target;               ///< the tensor that it defines
    std::vector<Variable> variables;  ///< the loops: left indices, then reductions in order of first use
  };
  /// A result: its dtype, shape and origin.
  struct Output {
    std::string name;                  ///< as in the program
    DType dtype = DType::float32;      ///< of its elements
    Shape shape;                       ///< the extents
    std::vector<std::int64_t> origin;  ///< the index of the first element along each axis
  };
  /// An access that inference alone does not keep in bounds. Status "guarded": out of bounds at some points, but at
  /// none where the conditionals around it use its value. Status "data_dependent": its indices are elements read from a
  /// tensor.
  struct Precondition {
    std::size_t statement = 0;  ///< the number of the statement, from 0
    std::string access;         ///< as in the program
    std::string tensor;         ///< the tensor that it reads
    std::size_t dimension = 0;  ///< the axis, from 0, that it may leave
    std::string status;         ///< "guarded" or "data_dependent"
  };
  /// The view through which an affine access reads its operand: over the statement's loops, in elements of the
  /// row-major operand. The offset of a guarded access may lie outside the operand.
  struct AccessView {
    std::size_t statement = 0;  ///< the number of the statement, from 0
    std::string access;         ///< as in the program
    std::string operand;        ///< the tensor that it reads
    View view;                  ///< over the loops of the statement
  };

  std::vector<Statement> statements;              ///< in the order of the program
  std::vector<Output> outputs;                    ///< in the order of the program
  std::vector<Precondition> preconditions;        ///< in the order of the accesses
  std::vector<std::string> warnings;              ///< "uninitialized_reduction:A"
  std::vector<AccessView> views;                  ///< of the affine accesses
  std::vector<ComprehensionWarning> diagnostics;  ///< all warnings, with their places

  std::string table;  ///< what str() gives

  /// A table for people.
  std::string str() const { return table; }
};

/// Options of an inference or a call.
struct ComprehensionOptions {
  /// What a gather does with an index outside its axis, if the element is used, and a scatter: IndexError of the work
  /// that computes the result, as for take; with Bounds::zero, 0, and nothing is written. Indices that inference proves
  /// are not checked.
  Bounds bounds = default_bounds();
  bool zero_origin = false;   ///< a result whose first index is not 0 is an error (non_zero_origin)
  bool only_results = false;  ///< a statement that assigns neither an input nor a result is an error, as in other
                              ///< implementations of the notation (temporary_not_listed)
};

/// The results of a call, in the order of the definition. A single result converts to a Tensor: pass it to any
/// operation, and reach Tensor's members by `->`.
///   auto y = relu(mm(a, b) + bias);   mm(a, b)->to_vector<float>();
class ComprehensionResults {
 public:
  /// Made by calling a Comprehension.
  explicit ComprehensionResults(std::vector<std::pair<std::string, Tensor>> named,
                                std::vector<ComprehensionWarning> warnings = {})
      : named_(std::move(named)), warnings_(std::move(warnings)) {}

  /// The number of results.
  std::size_t size() const noexcept { return named_.size(); }
  /// The name of result k. Throws std::out_of_range.
  const std::string& name(std::size_t k) const { return named_.at(k).first; }
  /// Result k. Throws std::out_of_range.
  const Tensor& operator[](std::size_t k) const { return named_.at(k).second; }
  /// Throws ArgumentError listing the names.
  const Tensor& operator[](std::string_view name) const;
  /// The only result. These four throw ArgumentError if there are several.
  const Tensor& tensor() const;
  /// As a tensor.
  /// @{
  operator const Tensor&() const { return tensor(); }  // NOLINT(google-explicit-constructor)
  const Tensor* operator->() const { return &tensor(); }
  const Tensor& operator*() const { return tensor(); }
  /// @}

  /// The warnings of this call; most programs have none.
  const std::vector<ComprehensionWarning>& warnings() const noexcept { return warnings_; }

 private:
  std::vector<std::pair<std::string, Tensor>> named_;
  std::vector<ComprehensionWarning> warnings_;
};

/// A compiled definition. Cheap to copy. Thread safety: const access from any thread. A definition may have type
/// variables, as in `def mm<T>(T(M, K) A, T(K, N) B) -> (C) {..}`. Each call binds them to the dtypes of its arguments;
/// ranges() takes float32 for them.
///
///   auto mm = oriel::comprehension("def mm(float(M, K) A, float(K, N) B) -> (C) { C(m, n) +=! A(m, k) * B(k, n) }");
///   oriel::Tensor c = mm(a, b);            // lazy, like any other operation
///   mm.ranges({{3, 4}, {4, 5}}).str();     // loops, views and preconditions for these shapes
class Comprehension {
 public:
  /// Made by oriel::comprehension().
  explicit Comprehension(detail::Shared<const lang::CompiledDefinition> definition)
      : definition_(std::move(definition)) {}

  /// The name of the definition.
  std::string name() const;
  /// The names of the parameters, in order.
  std::vector<std::string> parameters() const;
  /// The names of the results, in order.
  std::vector<std::string> results() const;
  /// The text with indices renamed in order of appearance and blanks normalised. Definitions with equal canonical texts
  /// share what is inferred for them.
  std::string canonical_text() const;
  /// The warnings that do not depend on shapes (uninitialized_reduction).
  std::vector<ComprehensionWarning> warnings() const;

  /// Ranges, views and preconditions for arguments of these shapes, one per parameter; {} for a scalar. Throws
  /// ComprehensionError.
  ComprehensionRanges ranges(ListOf<Shape> shapes, const ComprehensionOptions& options = {}) const;

  /// The results for these arguments, one per parameter: a tensor of the parameter's element type, or a number. They
  /// are pending like those of any operation. The shapes bind the size variables. Throws ComprehensionError;
  /// DeviceError if the arguments live on different devices. Where a gather reads outside its operand, reading the
  /// results throws IndexError (ComprehensionOptions::bounds).
  ComprehensionResults call(std::span<const Operand> arguments, const ComprehensionOptions& options = {},
                            Site site = Site::here()) const;
  /// Checks that the size variable `name` has this value for these arguments. Throws ComprehensionError (size_mismatch)
  /// if not, and ArgumentError if the definition has no size variable of that name.
  void expect_size(std::string_view name, const Operand& value, std::span<const Operand> arguments) const;
  /// call() with these arguments and default options.
  template <class... T>
  ComprehensionResults operator()(const T&... arguments) const {
    const Operand list[] = {Operand(arguments)...};
    return call(list, {}, Site::unknown());  // the line of this header would tell nothing
  }
  /// Of a definition without parameters.
  ComprehensionResults operator()() const { return call({}); }

 private:
  detail::Shared<const lang::CompiledDefinition> definition_;
};

/// Compiles the definition `name` of the text, or the last one if `name` is empty. Compiled definitions are cached, so
/// the same text is checked once. Definitions that differ only in names of indices, comments and blanks share what is
/// inferred for their shapes. `file` names the text in messages. Throws ComprehensionError if the text is wrong,
/// ArgumentError if it has no definition of that name.
Comprehension comprehension(std::string_view text, std::string_view name = {}, std::string_view file = "comprehension");
/// All definitions of the text, in order.
std::vector<Comprehension> comprehensions(std::string_view text, std::string_view file = "comprehension");

}  // namespace oriel
