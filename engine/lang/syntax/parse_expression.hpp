// The parser of expressions.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "lang/syntax/lexer.hpp"
#include "lang/syntax/syntax.hpp"
#include "lang/syntax/words.hpp"
#include "oriel/inline_vector.hpp"

namespace oriel::lang {

/// The type variables of a definition.
struct TypeVariables {
  std::vector<std::string_view> names;
  std::span<const DType> dtypes;  // of the variables; float32 for those without one

  /// The dtype that a word names, directly or as a type variable of this definition.
  std::optional<DType> type_of(std::string_view word) const;
  /// The number of a variable, or -1.
  std::int32_t find(std::string_view word) const;
};

/// The value of an Integer token.
std::int64_t integer(const Source& source, const Token& token);

/// Parses expressions of one definition into its pool.
class ExpressionParser {
 public:
  /// The arguments must outlive the object.
  ExpressionParser(TokenStream& tokens, const TypeVariables& types, std::vector<Expr>& pool)
      : tokens_(tokens), types_(types), pool_(pool) {}

  ExprId expression();
  const Expr& operator[](ExprId id) const { return pool_[static_cast<std::size_t>(id)]; }

 private:
  ExprId add(Expr expr);
  Span span_of(ExprId id) const { return pool_[static_cast<std::size_t>(id)].span; }
  ExprId operation(Operator op, std::initializer_list<ExprId> args, Span span);
  const BinaryOperator* binary_operator() const;
  ExprId binary(int level);
  ExprId unary();
  ExprId primary();
  ExprId truth(const Token& token);
  ExprId extremum(const Token& token);
  ExprId literal(const Token& token);
  InlineVector<ExprId, 3> arguments(const Token& of);

  TokenStream& tokens_;
  const TypeVariables& types_;
  std::vector<Expr>& pool_;
  int depth_ = 0;
};

}  // namespace oriel::lang
