// Evaluates the C text of an index or valid expression at every index of a shape.
#pragma once

#include <cstdint>
#include <deque>
#include <string_view>
#include <vector>

#include "fuzz/eager.hpp"

namespace oriel::fuzz {

/// Integers, i0, i1, ..., parentheses and C's + - * / % < <= > >= == != && ||, unary - and !. Every operand is
/// evaluated at every index, valid or not. The values at invalid indices do not matter, so a division by zero gives 0,
/// and sums wrap.
class Formula {
 public:
  /// Sets the shape for later calls of evaluate. Earlier results become invalid.
  void bind(const Extents& shape);
  /// The values in row-major order of the shape, valid until the next bind. Throws ParseError if the text is not such
  /// an expression or names an axis that the shape lacks.
  const std::vector<std::int64_t>& evaluate(std::string_view text);

 private:
  /// A constant, or one value per index.
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
  std::deque<Column> columns_;  // a deque for stable addresses; reused from call to call
  std::size_t used_ = 0;
  std::vector<Column*> axes_;
};

}  // namespace oriel::fuzz
