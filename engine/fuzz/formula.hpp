// Evaluates the C text of an index or valid expression at every index of a shape, as its reader would.
#pragma once

#include <cstdint>
#include <deque>
#include <string_view>
#include <vector>

#include "fuzz/eager.hpp"

namespace oriel::fuzz {

/// Integers, i0, i1, ..., parentheses and C's + - * / % < <= > >= == != && ||, unary - and !. Every operand is
/// evaluated at every index; a division by zero is 0, and sums wrap: what an invalid index would compute is of no
/// interest.
class Formula {
 public:
  /// Evaluates over this shape from now on. Values of before are gone.
  void bind(const Extents& shape);
  /// The values in row-major order of the shape, until the next bind. Throws ParseError where the text is not such an
  /// expression or names an axis that the shape lacks.
  const std::vector<std::int64_t>& evaluate(std::string_view text);

 private:
  /// A number, or the values of a column.
  struct Value {
    std::int64_t number = 0;
    std::vector<std::int64_t>* column = nullptr;
  };
  using Column = std::vector<std::int64_t>;

  [[noreturn]] void refuse(const char* expected) const;
  void skip_space();
  bool take(char token);
  std::int64_t read_number();
  Value axis(std::size_t d);
  Value primary();
  Value unary();
  Value binary(int least_precedence);
  template <class Op>
  Value combine(Value a, Value b, Op op);
  Value apply(std::size_t op, Value a, Value b);
  Column& fresh();

  std::string_view whole_;
  std::string_view text_;
  Extents shape_;
  std::size_t count_ = 0;
  std::deque<Column> columns_;  // stable addresses; used again from call to call
  std::size_t used_ = 0;
  std::vector<Column*> axes_;
};

}  // namespace oriel::fuzz
