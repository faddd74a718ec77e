#include "fuzz/formula.hpp"

#include <array>
#include <cctype>
#include <charconv>

#include "oriel/error.hpp"

namespace oriel::fuzz {
namespace {

struct Operator {
  std::string_view token;
  int precedence;
};
// Longer tokens first, so that "<=" is not read as "<".
constexpr std::array<Operator, 13> kOperators{{{"&&", 2},
                                               {"||", 1},
                                               {"<=", 4},
                                               {">=", 4},
                                               {"==", 3},
                                               {"!=", 3},
                                               {"<", 4},
                                               {">", 4},
                                               {"+", 5},
                                               {"-", 5},
                                               {"*", 6},
                                               {"/", 6},
                                               {"%", 6}}};

/// The index in the table of the operator with which the text begins, or the table's size.
std::size_t find_operator(std::string_view text) {
  for (std::size_t op = 0; op < kOperators.size(); ++op) {
    const std::string_view token = kOperators[op].token;
    if (text.size() < token.size() || text[0] != token[0]) continue;
    if (token.size() == 1 || text[1] == token[1]) return op;
  }
  return kOperators.size();
}

std::uint64_t bits(std::int64_t n) { return static_cast<std::uint64_t>(n); }

}  // namespace

void Formula::refuse(const char* expected) const {
  throw ParseError("expression", "expected " + std::string(expected) + " at '" + std::string(text_) + "' in '" +
                                     std::string(whole_) + "'");
}

void Formula::skip_space() {
  while (!text_.empty() && text_.front() == ' ') text_.remove_prefix(1);
}

bool Formula::take(char token) {
  skip_space();
  if (text_.empty() || text_.front() != token) return false;
  text_.remove_prefix(1);
  return true;
}

std::int64_t Formula::read_number() {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), number);
  if (error != std::errc()) refuse("a 64-bit integer");
  text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
  return number;
}

Formula::Column& Formula::fresh() {
  if (used_ == columns_.size()) columns_.emplace_back();
  Column& column = columns_[used_++];
  column.resize(count_);
  return column;
}

Formula::Value Formula::axis(std::size_t d) {
  if (d >= shape_.size()) refuse("an axis of the shape");
  if (axes_[d] == nullptr) {
    Column& column = fresh();
    std::size_t weight = 1;
    for (std::size_t k = d + 1; k < shape_.size(); ++k) weight *= static_cast<std::size_t>(shape_[k]);
    std::int64_t digit = 0;
    for (std::size_t n = 0; n < count_; n += weight) {
      for (std::size_t k = 0; k < weight; ++k) column[n + k] = digit;
      if (++digit == shape_[d]) digit = 0;
    }
    axes_[d] = &column;
  }
  return {0, axes_[d]};
}

Formula::Value Formula::primary() {
  if (take('(')) {
    const Value value = binary(1);
    if (!take(')')) refuse("')'");
    return value;
  }
  if (take('i')) return axis(static_cast<std::size_t>(read_number()));
  if (text_.empty() || std::isdigit(static_cast<unsigned char>(text_.front())) == 0) refuse("a number, iN or '('");
  return {read_number(), nullptr};
}

Formula::Value Formula::unary() {
  if (take('-'))
    return combine({0, nullptr}, unary(),
                   [](std::int64_t a, std::int64_t b) { return static_cast<std::int64_t>(bits(a) - bits(b)); });
  if (take('!')) return combine({0, nullptr}, unary(), [](std::int64_t a, std::int64_t b) { return a == b ? 1 : 0; });
  return primary();
}

template <class Op>
Formula::Value Formula::combine(Value a, Value b, Op op) {
  if (a.column == nullptr && b.column == nullptr) return {op(a.number, b.number), nullptr};
  Column& out = fresh();
  if (b.column == nullptr) {
    for (std::size_t n = 0; n < count_; ++n) out[n] = op((*a.column)[n], b.number);
  } else if (a.column == nullptr) {
    for (std::size_t n = 0; n < count_; ++n) out[n] = op(a.number, (*b.column)[n]);
  } else {
    for (std::size_t n = 0; n < count_; ++n) out[n] = op((*a.column)[n], (*b.column)[n]);
  }
  return {0, &out};
}

Formula::Value Formula::apply(std::size_t op, Value a, Value b) {
  using I = std::int64_t;
  switch (op) {
    case 0:
      return combine(a, b, [](I x, I y) { return I{x != 0 && y != 0}; });
    case 1:
      return combine(a, b, [](I x, I y) { return I{x != 0 || y != 0}; });
    case 2:
      return combine(a, b, [](I x, I y) { return I{x <= y}; });
    case 3:
      return combine(a, b, [](I x, I y) { return I{x >= y}; });
    case 4:
      return combine(a, b, [](I x, I y) { return I{x == y}; });
    case 5:
      return combine(a, b, [](I x, I y) { return I{x != y}; });
    case 6:
      return combine(a, b, [](I x, I y) { return I{x < y}; });
    case 7:
      return combine(a, b, [](I x, I y) { return I{x > y}; });
    case 8:
      return combine(a, b, [](I x, I y) { return static_cast<I>(bits(x) + bits(y)); });
    case 9:
      return combine(a, b, [](I x, I y) { return static_cast<I>(bits(x) - bits(y)); });
    case 10:
      return combine(a, b, [](I x, I y) { return static_cast<I>(bits(x) * bits(y)); });
    case 11:
      return combine(a, b,
                     [](I x, I y) { return y == 0 || y == -1 ? static_cast<I>(0 - bits(x) * bits(y != 0)) : x / y; });
    default:
      break;
  }
  return combine(a, b, [](I x, I y) { return y == 0 || y == -1 ? 0 : x % y; });
}

Formula::Value Formula::binary(int least_precedence) {
  Value value = unary();
  while (true) {
    skip_space();
    const std::size_t op = find_operator(text_);
    if (op == kOperators.size() || kOperators[op].precedence < least_precedence) return value;
    text_.remove_prefix(kOperators[op].token.size());
    value = apply(op, value, binary(kOperators[op].precedence + 1));
  }
}

void Formula::bind(const Extents& shape) {
  shape_ = shape;
  count_ = 1;
  for (const std::int64_t extent : shape) count_ *= static_cast<std::size_t>(extent);
  used_ = 0;
  axes_.assign(shape.size(), nullptr);
}

const std::vector<std::int64_t>& Formula::evaluate(std::string_view text) {
  whole_ = text_ = text;
  const Value value = binary(1);
  skip_space();
  if (!text_.empty()) refuse("an operator or the end");
  if (value.column != nullptr) return *value.column;
  Column& column = fresh();
  column.assign(count_, value.number);
  return column;
}

}  // namespace oriel::fuzz
