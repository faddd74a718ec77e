// Tensor comprehensions: index notation whose loops are implicit and whose ranges are inferred.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "oriel/error.hpp"
#include "oriel/settings.hpp"
#include "oriel/tensor.hpp"
#include "oriel/view.hpp"

namespace oriel {

namespace lang {
struct CompiledDefinition;
}  // namespace lang

/// A fault in a comprehension's text, or in how its text and its arguments fit together. `what()` reads as a compiler
/// would write it: file:line:column, the message with its kind in brackets, the line with the place marked, and notes.
class ComprehensionError : public ParseError {
 public:
  ComprehensionError(const std::string& diagnostic, std::string kind, std::size_t line, std::size_t column)
      : ParseError("comprehension", diagnostic),
        diagnostic_(diagnostic),
        kind_(std::move(kind)),
        line_(line),
        column_(column) {}

  /// The same text without the operation's name in front.
  const std::string& diagnostic() const noexcept { return diagnostic_; }
  /// "parse_error", "unresolved_variable", "precondition_violated", ...: for programs to tell faults apart.
  const std::string& kind() const noexcept { return kind_; }
  std::size_t line() const noexcept { return line_; }
  std::size_t column() const noexcept { return column_; }

 private:
  std::string diagnostic_;
  std::string kind_;
  std::size_t line_;
  std::size_t column_;
};

/// A program that is accepted, but may not say what was meant. `kind` is one of
///   uninitialized_reduction  += and its kin on what no statement before has assigned: it starts from the operator's
///                            identity. Written with !, it says so
///   partial_read             an operand is read in part because another access bounds an index that both use. A where
///                            clause for that index says so
///   narrowing_guard          a conditional holds at every point that is computed, since inference keeps the access
///                            below it in bounds whatever it says. A where clause gives the index its range
///   unchecked_gather         positions that are read from a tensor may lie outside of what they index, and read as 0
///                            there. A call with `checked` throws instead; indices clamped by min and max need neither
struct ComprehensionWarning {
  std::string kind;
  std::size_t statement = 0;
  std::string tensor;      // the operand, or the target
  std::size_t line = 0;    // of the place in the text, from 1
  std::size_t column = 0;  // in bytes, from 1
  std::size_t length = 0;  // of the place, in bytes
  std::string message;
  std::string diagnostic;  // "file:line:column: warning: message [kind]", with the line and its place marked below
};

/// Where the warnings of calls go that nobody asks for: nowhere at first, and nothing is printed. The sink is called in
/// the calling thread, for each warning of the first call with some shapes (as long as what was inferred for them is
/// kept). An empty function takes it away. From any thread.
///   oriel::set_comprehension_warning_sink([](const auto& w) { std::cerr << w.diagnostic << '\n'; });
void set_comprehension_warning_sink(std::function<void(const ComprehensionWarning&)> sink);

/// What range inference found for given shapes.
struct ComprehensionRanges {
  struct Variable {
    std::string name;
    std::int64_t lo = 0;  // half open
    std::int64_t hi = 0;
    int round = 0;         // in which it was resolved, from 1; 0 by a where clause
    std::string lower_by;  // the access that decided each end; empty for a where clause
    std::string upper_by;
  };
  struct Statement {
    std::string target;
    std::vector<Variable> variables;  // the loops: left indices, then reductions in order of first use
  };
  struct Output {
    std::string name;
    DType dtype = DType::float32;
    Shape shape;
    std::vector<std::int64_t> origin;  // of each axis: the index that is stored first
  };
  /// An access that inference alone does not keep in bounds. "guarded": out of bounds somewhere, but not where the
  /// conditionals around it take its value. "data_dependent": it goes by elements that are read.
  struct Precondition {
    std::size_t statement = 0;
    std::string access;
    std::string tensor;
    std::size_t dimension = 0;
    std::string status;
  };
  /// How an affine access reads its operand: over the statement's loops, in elements of the row-major operand. The
  /// offset of an access that is guarded may lie outside of it.
  struct AccessView {
    std::size_t statement = 0;
    std::string access;
    std::string operand;
    View view;
  };

  std::vector<Statement> statements;
  std::vector<Output> outputs;
  std::vector<Precondition> preconditions;
  std::vector<std::string> warnings;  // "uninitialized_reduction:A"
  std::vector<AccessView> views;
  std::vector<ComprehensionWarning> diagnostics;  // all warnings, with their places

  /// A table for people.
  std::string str() const;
};

/// What may be asked of an inference or a call.
struct ComprehensionOptions {
  /// Gathers look at their indices first: the call runs what these need, and throws IndexError.
  bool checked = default_bounds() == Bounds::checked;
  bool zero_origin = false;   ///< a result whose first index is not 0 is an error (non_zero_origin)
  bool only_results = false;  ///< a statement that assigns neither an input nor a result is an error, as in other
                              ///< implementations of the notation (temporary_not_listed)
};

/// The results of a call, as listed. Where there is one, they stand for it: as an argument of every operation, and by
/// `->` for Tensor's members.
///   auto y = relu(mm(a, b) + bias);   mm(a, b)->to_vector<float>();
class ComprehensionResults {
 public:
  explicit ComprehensionResults(std::vector<std::pair<std::string, Tensor>> named,
                                std::vector<ComprehensionWarning> warnings = {})
      : named_(std::move(named)), warnings_(std::move(warnings)) {}

  std::size_t size() const noexcept { return named_.size(); }
  const std::string& name(std::size_t k) const { return named_.at(k).first; }
  const Tensor& operator[](std::size_t k) const { return named_.at(k).second; }
  /// Throws ArgumentError listing the names.
  const Tensor& operator[](std::string_view name) const;
  /// The one result. All throw ArgumentError where there are several.
  const Tensor& tensor() const;
  operator const Tensor&() const { return tensor(); }  // NOLINT(google-explicit-constructor)
  const Tensor* operator->() const { return &tensor(); }
  const Tensor& operator*() const { return tensor(); }

  /// What this call may not have been meant to do; none for most programs.
  const std::vector<ComprehensionWarning>& warnings() const noexcept { return warnings_; }

 private:
  std::vector<std::pair<std::string, Tensor>> named_;
  std::vector<ComprehensionWarning> warnings_;
};

/// A checked definition. Cheap to copy; may be called from any thread. Names of types after the definition's own, as in
/// `def mm<T>(T(M, K) A, T(K, N) B) -> (C) {..}`, stand for the dtypes of the tensors that come: each call finds them
/// anew, and ranges() takes float32.
///
///   auto mm = oriel::comprehension("def mm(float(M, K) A, float(K, N) B) -> (C) { C(m, n) +=! A(m, k) * B(k, n) }");
///   oriel::Tensor c = mm(a, b);            // lazy, like any other operation
///   mm.ranges({{3, 4}, {4, 5}}).str();     // loops, views and preconditions for these shapes
class Comprehension {
 public:
  explicit Comprehension(std::shared_ptr<const lang::CompiledDefinition> definition)
      : definition_(std::move(definition)) {}

  std::string name() const;
  std::vector<std::string> parameters() const;
  std::vector<std::string> results() const;
  /// The text with indices renamed in order of appearance and even blanks: what equal definitions share.
  std::string canonical_text() const;
  /// Those warnings that need no shapes (uninitialized_reduction).
  std::vector<ComprehensionWarning> warnings() const;

  /// Ranges, views and preconditions for arguments of these shapes, {} for a scalar. Throws ComprehensionError.
  ComprehensionRanges ranges(std::span<const Shape> shapes, const ComprehensionOptions& options = {}) const;
  ComprehensionRanges ranges(std::initializer_list<Shape> shapes, const ComprehensionOptions& options = {}) const {
    return ranges(std::span<const Shape>(shapes.begin(), shapes.size()), options);
  }

  /// The results for these arguments, one a parameter, tensors of its element type or numbers; pending like those of
  /// any operation. Size variables are bound by the shapes. Throws ComprehensionError; DeviceError where arguments live
  /// on different devices; IndexError where options ask for checks and a gather leaves its operand.
  ComprehensionResults call(std::span<const Operand> arguments, const ComprehensionOptions& options = {},
                            Site site = Site::here()) const;
  /// Throws ComprehensionError (size_mismatch) unless the size variable has this value for these arguments, and
  /// ArgumentError for a name that is no size variable.
  void expect_size(std::string_view name, const Operand& value, std::span<const Operand> arguments) const;
  template <class... T>
  ComprehensionResults operator()(const T&... arguments) const {
    const Operand list[] = {Operand(arguments)...};
    return call(list);
  }
  ComprehensionResults operator()() const { return call({}); }

 private:
  std::shared_ptr<const lang::CompiledDefinition> definition_;
};

/// The definition `name` of the text, or its last one. Definitions are kept, so that the same text is checked once; and
/// definitions that differ in names of indices, comments and blanks alone share what is inferred for their shapes.
/// Throws ComprehensionError for the text; ArgumentError where it has no definition of that name. `file` names the text
/// in messages.
Comprehension comprehension(std::string_view text, std::string_view name = {}, std::string_view file = "comprehension");
/// All definitions of the text, in order.
std::vector<Comprehension> comprehensions(std::string_view text, std::string_view file = "comprehension");

}  // namespace oriel
