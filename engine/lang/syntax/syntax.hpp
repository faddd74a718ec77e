// The syntax tree of a text, independent of shapes: definitions, which consist of statements over expressions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lang/syntax/diagnostic.hpp"
#include "oriel/dtype.hpp"
#include "oriel/inline_vector.hpp"

namespace oriel::lang {

enum class Operator : std::uint8_t { Neg, Not, Add, Sub, Mul, Div, Mod, Lt, Le, Gt, Ge, Eq, Ne, And, Or, Min, Max };

enum class ExprKind : std::uint8_t {
  Integer,
  Float,
  // A name as written. The checker turns it into one of the next kinds.
  Name,
  Index,      // variable `id` of the statement
  Size,       // size variable `id` of the definition
  Let,        // the value of a where clause: args[0]
  Apply,      // tensor `id` at the indices args
  Operation,  // `op` of args
  Select,     // args[0] ? args[1] : args[2]
  Cast,       // args[0] as `dtype`
  Call,       // builtin function `id` of args
};

using ExprId = std::int32_t;
inline constexpr ExprId kNoExpr = -1;

/// An expression. Expressions are stored in their definition's pool and refer to each other by their position in it.
struct Expr {
  ExprKind kind = ExprKind::Integer;
  Operator op = Operator::Add;
  DType dtype = DType::int32;  // dtype of the value: known after checking; for literals and casts from the start
  bool reads = false;          // set by the checker: reads a tensor somewhere below
  std::int32_t id = -1;
  Span span;
  std::string_view name;
  std::int64_t integer = 0;
  double number = 0;
  InlineVector<ExprId, 3> args;
};

/// A size variable or a constant.
struct Dimension {
  Span span;
  std::string_view name;  // empty for a constant
  std::int64_t value = 0;
  std::int32_t size = -1;  // set by the checker: the size variable
};

struct Parameter {
  Span span;
  std::string_view name;
  DType dtype = DType::float32;
  std::int32_t type = -1;  // the type variable with which it was declared, or -1
  std::vector<Dimension> dims;
};

struct Result {
  Span span;
  std::string_view name;
  std::optional<DType> dtype;  // if declared, together with dims
  std::vector<Dimension> dims;
  bool has_dims = false;
};

enum class Assignment : std::uint8_t { Set, Add, Mul, Min, Max };

/// where v in lo:hi · where exists e · where v = e
struct Clause {
  enum class Kind : std::uint8_t { Range, Exists, Let } kind = Kind::Range;
  Span span;
  Span name_span;
  std::string_view name;
  ExprId first = kNoExpr;
  ExprId second = kNoExpr;
};

/// What stands for one dimension left of the operator: an index, which is an axis of the target, or a position.
struct Index {
  Span span;
  std::string_view name;      // empty for a position
  ExprId position = kNoExpr;  // the expression of a position
};

struct Statement {
  Span span;  // the statement, from the target to the end
  Span head;  // the target with its indices
  Span target_span;
  std::string_view target;
  std::vector<Index> left;
  Assignment assignment = Assignment::Set;
  bool initialises = false;  // the operator has a !
  Span operator_span;
  ExprId right = kNoExpr;
  std::vector<Clause> clauses;
};

struct Definition {
  Span span;
  Span name_span;
  std::string_view name;
  std::vector<std::string_view> types;  // type variables: def f<T>(T(N) X)
  std::vector<Parameter> parameters;
  std::vector<Result> results;
  std::vector<Statement> statements;
  std::vector<Expr> pool;

  const Expr& operator[](ExprId id) const { return pool[static_cast<std::size_t>(id)]; }
  Expr& operator[](ExprId id) { return pool[static_cast<std::size_t>(id)]; }
};

/// All definitions of the text, in order; at least one. The string_views in them point into `source`, which must
/// outlive them. `types` gives the dtypes of each definition's type variables, in order; variables beyond it are
/// float32. Throws ComprehensionError (parse_error), which names what was expected.
std::vector<Definition> parse(const Source& source, std::span<const DType> types = {});

/// The expression in the notation, with blanks around operators, only the necessary parentheses, and names of where
/// clauses replaced by their values: "B(max(min(C(i), J - 1), 0))".
std::string text(const Definition& definition, ExprId expression);
/// The same at any length: messages cut it.
std::string whole_text(const Definition& definition, ExprId expression);

/// "+", "&&", "min".
std::string_view symbol(Operator op) noexcept;
/// "=", "+=!", "max=".
std::string_view symbol(Assignment assignment, bool initialises) noexcept;

}  // namespace oriel::lang
