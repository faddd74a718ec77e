#include "lang/syntax/parse_expression.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

#include "oriel/inline_vector.hpp"

namespace oriel::lang {
namespace {

/// The deepest nesting of expressions, so that no text can exhaust the stack.
constexpr int kMaxDepth = 200;
/// The longest chain of operators: each operator is a level of the tree.
constexpr int kMaxLength = 3200;

}  // namespace

std::optional<DType> TypeVariables::type_of(std::string_view word) const {
  for (std::size_t k = 0; k < names.size(); ++k) {
    if (names[k] == word) return k < dtypes.size() ? dtypes[k] : DType::float32;
  }
  return type_of_name(word);
}

std::int32_t TypeVariables::find(std::string_view word) const {
  const auto found = std::find(names.begin(), names.end(), word);
  return found == names.end() ? -1 : static_cast<std::int32_t>(found - names.begin());
}

std::int64_t integer(const Source& source, const Token& token) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(token.text.data(), token.text.data() + token.text.size(), value);
  if (error != std::errc{}) {
    fail(source, ErrorKind::Parse, token.span, "the number does not fit a signed 64-bit integer");
  }
  return value;
}

ExprId ExpressionParser::add(Expr expr) {
  pool_.push_back(std::move(expr));
  return static_cast<ExprId>(pool_.size() - 1);
}

ExprId ExpressionParser::expression() {
  if (++depth_ > kMaxDepth) {
    fail(tokens_.source(), ErrorKind::Parse, tokens_.now().span,
         fmt::format("the expression nests deeper than {} levels", kMaxDepth));
  }
  const ExprId condition = binary(0);
  ExprId out = condition;
  if (tokens_.take_if("?")) {
    const ExprId yes = expression();
    tokens_.expect(":", "between what the conditional may give");
    const ExprId no = expression();
    Expr select;
    select.kind = ExprKind::Select;
    select.span = {span_of(condition).begin, span_of(no).end};
    select.args = {condition, yes, no};
    out = add(std::move(select));
  }
  --depth_;
  return out;
}

const BinaryOperator* ExpressionParser::binary_operator() const {
  if (tokens_.now().kind != TokenKind::Symbol) return nullptr;
  for (const BinaryOperator& op : kBinary) {
    if (op.symbol == tokens_.now().text) return &op;
  }
  return nullptr;
}

// Parses operators of this level and of higher ones. Operators of one level are left-associative.
ExprId ExpressionParser::binary(int level) {
  ExprId left = unary();
  int length = 0;
  for (const BinaryOperator* op = binary_operator(); op != nullptr && op->level >= level; op = binary_operator()) {
    if (++length > kMaxLength) {
      fail(tokens_.source(), ErrorKind::Parse, tokens_.now().span,
           fmt::format("more than {} operators follow each other", kMaxLength));
    }
    tokens_.take();
    const ExprId right = binary(op->level + 1);
    left = operation(op->op, {left, right}, {span_of(left).begin, span_of(right).end});
  }
  return left;
}

ExprId ExpressionParser::operation(Operator op, std::initializer_list<ExprId> args, Span span) {
  Expr expr;
  expr.kind = ExprKind::Operation;
  expr.op = op;
  expr.span = span;
  expr.args = args;
  return add(std::move(expr));
}

ExprId ExpressionParser::unary() {
  const Span start = tokens_.now().span;
  const bool minus = tokens_.now().is("-");
  if (!minus && !tokens_.now().is("!")) return primary();
  if (++depth_ > kMaxDepth) {
    fail(tokens_.source(), ErrorKind::Parse, start,
         fmt::format("the expression nests deeper than {} levels", kMaxDepth));
  }
  tokens_.take();
  const ExprId x = unary();
  --depth_;
  return operation(minus ? Operator::Neg : Operator::Not, {x}, {start.begin, span_of(x).end});
}

ExprId ExpressionParser::primary() {
  const Token token = tokens_.now();
  if (tokens_.take_if("(")) {
    const ExprId inner = expression();
    if (!tokens_.take_if(")")) tokens_.unexpected("')'", {{token.span, "')' would close this"}});
    return inner;
  }
  if (token.kind == TokenKind::Integer || token.kind == TokenKind::Float) return literal(tokens_.take());
  if (token.kind != TokenKind::Name) tokens_.unexpected("an expression");
  if (token.text == "min" || token.text == "max") return extremum(tokens_.take());
  if (token.text == "true" || token.text == "false") return truth(tokens_.take());
  if (const std::optional<DType> dtype = types_.type_of(token.text)) {
    tokens_.take();
    Expr cast;
    cast.kind = ExprKind::Cast;
    cast.dtype = *dtype;
    cast.args = arguments(token);
    if (cast.args.size() != 1) {
      fail(tokens_.source(), ErrorKind::ArityMismatch, {token.span.begin, tokens_.last_end()},
           fmt::format("a cast takes one expression, but {} came", cast.args.size()));
    }
    cast.span = {token.span.begin, tokens_.last_end()};
    return add(std::move(cast));
  }
  if (is_keyword(token.text)) tokens_.unexpected("an expression");
  tokens_.take();
  tokens_.refuse_brackets(token);
  Expr expr;
  expr.name = token.text;
  if (tokens_.now().is("(")) {
    expr.args = arguments(token);
    expr.kind = ExprKind::Apply;
  } else {
    expr.kind = ExprKind::Name;
  }
  expr.span = {token.span.begin, tokens_.last_end()};
  return add(std::move(expr));
}

// true and false are 1 and 0 of bool.
ExprId ExpressionParser::truth(const Token& token) {
  Expr expr;
  expr.span = token.span;
  expr.dtype = DType::bool_;
  expr.integer = token.text == "true" ? 1 : 0;
  return add(std::move(expr));
}

ExprId ExpressionParser::extremum(const Token& token) {
  const auto args = arguments(token);
  const Span span{token.span.begin, tokens_.last_end()};
  if (args.size() != 2) {
    fail(tokens_.source(), ErrorKind::ArityMismatch, span,
         fmt::format("{} takes two expressions, but {} came", token.text, args.size()));
  }
  return operation(token.text == "min" ? Operator::Min : Operator::Max, {args[0], args[1]}, span);
}

InlineVector<ExprId, 3> ExpressionParser::arguments(const Token& of) {
  InlineVector<ExprId, 3> args;
  const Span open = tokens_.now().span;
  tokens_.expect("(", fmt::format("after '{}'", of.text));
  if (tokens_.take_if(")")) return args;
  do {
    args.push_back(expression());
  } while (tokens_.take_if(","));
  tokens_.close(")", open);
  return args;
}

ExprId ExpressionParser::literal(const Token& token) {
  Expr expr;
  expr.span = token.span;
  if (token.kind == TokenKind::Integer) {
    expr.integer = integer(tokens_.source(), token);
    expr.dtype = expr.integer > std::numeric_limits<std::int32_t>::max() ? DType::int64 : DType::int32;
  } else {
    expr.kind = ExprKind::Float;
    expr.dtype = DType::float32;
    const auto [end, error] = std::from_chars(token.text.data(), token.text.data() + token.text.size(), expr.number);
    if (error != std::errc{} && error != std::errc::result_out_of_range) {
      fail(tokens_.source(), ErrorKind::Parse, token.span, "the number cannot be read");
    }
    if (error == std::errc::result_out_of_range) {
      fail(tokens_.source(), ErrorKind::Parse, token.span, "the number does not fit a 64-bit float");
    }
  }
  return add(std::move(expr));
}

}  // namespace oriel::lang
