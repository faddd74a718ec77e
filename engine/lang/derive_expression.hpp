// Expressions of the notation that are made, and the partial derivatives of its functions as such.
#pragma once

#include <deque>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "lang/syntax/syntax.hpp"

namespace oriel::lang {

/// Makes expressions in a definition's pool. Their dtypes are at least as wide as those of their values.
class Maker {
 public:
  explicit Maker(Definition& definition) : d_(definition) {}

  /// The text, for as long as this object lives.
  std::string_view keep(std::string text) { return texts_.emplace_back(std::move(text)); }
  ExprId number(double value);
  ExprId name(std::string text);
  ExprId call(std::string_view function, std::initializer_list<ExprId> args);
  ExprId read(std::string tensor, const InlineVector<ExprId, 3>& args, DType dtype);
  ExprId select(ExprId condition, ExprId yes, ExprId no);
  ExprId cast(DType dtype, ExprId x);
  /// Leaves out factors of 1 and double signs, and takes conditionals that give 0 out of products, so that they guard
  /// all factors.
  ExprId operation(Operator op, ExprId a, ExprId b);
  ExprId negative(ExprId x);
  DType dtype(ExprId id) const { return d_[id].dtype; }

 private:
  ExprId add(Expr expr);
  std::optional<double> value(ExprId id) const;  // of a number
  bool is_number(ExprId id, double x) const { return value(id) == x; }

  Definition& d_;
  std::deque<std::string> texts_;
};

/// The derivative of a function or an operation by its operand of this number, as an expression over its operands; null
/// where it is 0 everywhere. `id`: the function itself. nullopt: it has none in the notation.
std::optional<ExprId> partial(Maker& make, const Definition& definition, ExprId id, std::size_t operand);

}  // namespace oriel::lang
