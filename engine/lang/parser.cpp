#include <fmt/format.h>

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <charconv>
#include <cmath>
#include <utility>

#include "lang/builtins.hpp"
#include "lang/lexer.hpp"
#include "lang/syntax.hpp"
#include "lang/words.hpp"

namespace oriel::lang {
namespace {

/// The deepest nesting of expressions, so that no text can exhaust the stack.
constexpr int kMaxDepth = 200;
/// The longest chain of operators: each operator is a level of the tree.
constexpr int kMaxLength = 3200;

class Parser {
 public:
  Parser(const Source& source, std::span<const DType> types) : source_(source), types_(types), tokens_(lex(source)) {}

  std::vector<Definition> run() {
    std::vector<Definition> definitions;
    do {
      definitions.push_back(definition());
    } while (now().kind != TokenKind::End);
    return definitions;
  }

 private:
  const Token& now() const { return tokens_[at_]; }
  const Token& ahead() const { return tokens_[at_ + 1 < tokens_.size() ? at_ + 1 : at_]; }
  Token take() { return tokens_[at_ + 1 < tokens_.size() ? at_++ : at_]; }
  std::uint32_t last_end() const { return at_ == 0 ? 0 : tokens_[at_ - 1].span.end; }
  bool take_if(std::string_view symbol) {
    if (!now().is(symbol)) return false;
    take();
    return true;
  }
  bool take_word(std::string_view word) {
    if (!now().is_word(word)) return false;
    take();
    return true;
  }

  [[noreturn]] void unexpected(std::string_view wanted, const std::vector<Note>& notes = {}) const {
    const Token& token = now();
    fail(source_, ErrorKind::Parse, token.span,
         token.kind == TokenKind::End ? fmt::format("expected {}, but the text ends", wanted)
                                      : fmt::format("expected {}, but found '{}'", wanted, token.text),
         notes);
  }
  void expect(std::string_view symbol, std::string_view after) {
    if (!take_if(symbol)) unexpected(fmt::format("'{}' {}", symbol, after));
  }
  void close(std::string_view symbol, Span open) {
    if (!take_if(symbol)) {
      unexpected(fmt::format("',' or '{}'", symbol), {{open, fmt::format("'{}' would close this", symbol)}});
    }
  }

  Token name(std::string_view what) {
    if (now().kind != TokenKind::Name) unexpected(what);
    if (is_keyword(now().text) || type_of(now().text)) {
      fail(source_, ErrorKind::Parse, now().span,
           fmt::format("expected {}, but '{}' is a word of the notation", what, now().text));
    }
    return take();
  }

  ExprId add(Expr expr) {
    pool_->push_back(std::move(expr));
    return static_cast<ExprId>(pool_->size() - 1);
  }
  Span span_of(ExprId id) const { return (*pool_)[static_cast<std::size_t>(id)].span; }

  Definition definition() {
    Definition out;
    pool_ = &out.pool;
    out.pool.reserve(32);
    const Span start = now().span;
    if (!take_word("def")) unexpected("'def'");
    const Token called = name("the definition's name");
    out.name = called.text;
    out.name_span = called.span;
    variables_.clear();
    if (take_if("<")) {
      do {
        variables_.push_back(name("the name of a type").text);
      } while (take_if(","));
      expect(">", "after the names of types");
    }
    out.types = variables_;
    Span open = now().span;
    expect("(", "after the definition's name");
    if (!take_if(")")) {
      do {
        out.parameters.push_back(parameter());
      } while (take_if(","));
      close(")", open);
    }
    expect("->", "and the results");
    open = now().span;
    if (take_if("(")) {
      do {
        out.results.push_back(result());
      } while (take_if(","));
      close(")", open);
    } else {
      out.results.push_back(result());
    }
    open = now().span;
    expect("{", "before the statements");
    while (!now().is("}")) {
      if (now().kind == TokenKind::End) unexpected("'}'", {{open, "'}' would close this"}});
      out.statements.push_back(statement());
    }
    take();
    out.span = {start.begin, last_end()};
    return out;
  }

  // The dtype that a word names, directly or as a type variable of this definition.
  std::optional<DType> type_of(std::string_view word) const {
    for (std::size_t k = 0; k < variables_.size(); ++k) {
      if (variables_[k] == word) return k < types_.size() ? types_[k] : DType::float32;
    }
    return type_of_name(word);
  }
  std::int32_t variable(std::string_view word) const {
    const auto found = std::find(variables_.begin(), variables_.end(), word);
    return found == variables_.end() ? -1 : static_cast<std::int32_t>(found - variables_.begin());
  }

  DType type() {
    const std::optional<DType> dtype = now().kind == TokenKind::Name ? type_of(now().text) : std::nullopt;
    if (!dtype) unexpected("a type (bool, int8 to int64, uint8 to uint64, float16, float, double)");
    take();
    return *dtype;
  }

  std::vector<Dimension> dimensions() {
    std::vector<Dimension> dims;
    const Span open = now().span;
    expect("(", "before the dimensions");
    if (take_if(")")) return dims;
    do {
      Dimension dim;
      dim.span = now().span;
      if (now().kind == TokenKind::Integer) {
        dim.value = integer(take());
      } else {
        dim.name = name("a size variable or a number").text;
      }
      dims.push_back(dim);
    } while (take_if(","));
    close(")", open);
    return dims;
  }

  Parameter parameter() {
    Parameter out;
    const Span start = now().span;
    out.type = variable(now().text);
    out.dtype = type();
    if (now().is("(")) out.dims = dimensions();
    out.name = name("the parameter's name").text;
    out.span = {start.begin, last_end()};
    return out;
  }

  Result result() {
    Result out;
    const Span start = now().span;
    if (now().kind == TokenKind::Name && type_of(now().text)) {
      out.dtype = type();
      out.has_dims = now().is("(");
      if (out.has_dims) out.dims = dimensions();
    }
    out.name = name("a result's name").text;
    out.span = {start.begin, last_end()};
    return out;
  }

  Statement statement() {
    Statement out;
    const Token target = name("a statement, T(i, ..) = .., or '}'");
    out.target = target.text;
    out.target_span = target.span;
    refuse_brackets(target);
    const Span open = now().span;
    if (take_if("(") && !take_if(")")) {
      do {
        const Token index = name("an index (left of the operator stand names only)");
        out.left.push_back({index.span, index.text});
        if (!now().is(",") && !now().is(")")) unexpected("',' or ')' (left of the operator stand names only)");
      } while (take_if(","));
      close(")", open);
    }
    out.head = {target.span.begin, last_end()};
    out.operator_span = now().span;
    const AssignmentSymbol* found = nullptr;
    for (const AssignmentSymbol& assignment : kAssignments) {
      if (now().is(assignment.symbol)) found = &assignment;
    }
    if (found == nullptr) unexpected("one of = += *= min= max= +=! *=! min=! max=!");
    take();
    out.assignment = found->assignment;
    out.initialises = found->initialises;
    out.right = expression();
    equivalent();
    if (take_word("where")) {
      do {
        out.clauses.push_back(clause());
      } while (take_if(","));
      equivalent();
    }
    out.span = {target.span.begin, last_end()};
    return out;
  }

  // Parses `<=>`, which names an equivalent function of a library: a string or a dotted name, perhaps with arguments.
  // It has no effect.
  void equivalent() {
    if (!take_if("<=>")) return;
    if (now().kind == TokenKind::String) {
      take();
    } else {
      name("the equivalent's name or a string");
      while (take_if(".")) name("a name");
    }
    const Span open = now().span;
    if (take_if("(") && !take_if(")")) {
      do {
        expression();
      } while (take_if(","));
      close(")", open);
    }
  }

  Clause clause() {
    Clause out;
    const Span start = now().span;
    if (take_word("exists")) {
      out.kind = Clause::Kind::Exists;
      out.first = expression();
    } else {
      const Token named = name("a clause: v in a:b, v = e, or exists e");
      out.name = named.text;
      out.name_span = named.span;
      if (take_if("=")) {
        out.kind = Clause::Kind::Let;
        out.first = expression();
      } else if (take_word("in")) {
        out.first = expression();
        expect(":", "between the ends of the range");
        out.second = expression();
      } else {
        unexpected("'in' or '='");
      }
    }
    out.span = {start.begin, last_end()};
    return out;
  }

  std::int64_t integer(const Token& token) const {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(token.text.data(), token.text.data() + token.text.size(), value);
    if (error != std::errc{}) {
      fail(source_, ErrorKind::Parse, token.span, "the number does not fit a signed 64-bit integer");
    }
    return value;
  }

  ExprId expression() {
    if (++depth_ > kMaxDepth) {
      fail(source_, ErrorKind::Parse, now().span, fmt::format("the expression nests deeper than {} levels", kMaxDepth));
    }
    const ExprId condition = binary(0);
    ExprId out = condition;
    if (take_if("?")) {
      const ExprId yes = expression();
      expect(":", "between what the conditional may give");
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

  const BinaryOperator* binary_operator() const {
    if (now().kind != TokenKind::Symbol) return nullptr;
    for (const BinaryOperator& op : kBinary) {
      if (op.symbol == now().text) return &op;
    }
    return nullptr;
  }

  // Parses operators of this level and of higher ones. Operators of one level are left-associative.
  ExprId binary(int level) {
    ExprId left = unary();
    int length = 0;
    for (const BinaryOperator* op = binary_operator(); op != nullptr && op->level >= level; op = binary_operator()) {
      if (++length > kMaxLength) {
        fail(source_, ErrorKind::Parse, now().span,
             fmt::format("more than {} operators follow each other", kMaxLength));
      }
      take();
      const ExprId right = binary(op->level + 1);
      left = operation(op->op, {left, right}, {span_of(left).begin, span_of(right).end});
    }
    return left;
  }

  ExprId operation(Operator op, std::initializer_list<ExprId> args, Span span) {
    Expr expr;
    expr.kind = ExprKind::Operation;
    expr.op = op;
    expr.span = span;
    expr.args = args;
    return add(std::move(expr));
  }

  ExprId unary() {
    const Span start = now().span;
    const bool minus = now().is("-");
    if (!minus && !now().is("!")) return primary();
    if (++depth_ > kMaxDepth) {
      fail(source_, ErrorKind::Parse, start, fmt::format("the expression nests deeper than {} levels", kMaxDepth));
    }
    take();
    const ExprId x = unary();
    --depth_;
    return operation(minus ? Operator::Neg : Operator::Not, {x}, {start.begin, span_of(x).end});
  }

  ExprId primary() {
    const Token token = now();
    if (take_if("(")) {
      const ExprId inner = expression();
      if (!take_if(")")) unexpected("')'", {{token.span, "')' would close this"}});
      return inner;
    }
    if (token.kind == TokenKind::Integer || token.kind == TokenKind::Float) return literal(take());
    if (token.kind != TokenKind::Name) unexpected("an expression");
    if (token.text == "min" || token.text == "max") return extremum(take());
    if (token.text == "true" || token.text == "false") return truth(take());
    if (const std::optional<DType> dtype = type_of(token.text)) {
      take();
      Expr cast;
      cast.kind = ExprKind::Cast;
      cast.dtype = *dtype;
      cast.args = arguments(token);
      if (cast.args.size() != 1) {
        fail(source_, ErrorKind::ArityMismatch, {token.span.begin, last_end()},
             fmt::format("a cast takes one expression, but {} came", cast.args.size()));
      }
      cast.span = {token.span.begin, last_end()};
      return add(std::move(cast));
    }
    if (is_keyword(token.text)) unexpected("an expression");
    take();
    refuse_brackets(token);
    Expr expr;
    expr.name = token.text;
    if (now().is("(")) {
      expr.args = arguments(token);
      expr.kind = ExprKind::Apply;
    } else {
      expr.kind = ExprKind::Name;
    }
    expr.span = {token.span.begin, last_end()};
    return add(std::move(expr));
  }

  // true and false are 1 and 0 of bool.
  ExprId truth(const Token& token) {
    Expr expr;
    expr.span = token.span;
    expr.dtype = DType::bool_;
    expr.integer = token.text == "true" ? 1 : 0;
    return add(std::move(expr));
  }

  // Rejects square brackets, with which other languages write an access.
  void refuse_brackets(const Token& name) const {
    if (!now().is("[")) return;
    fail(source_, ErrorKind::Parse, now().span,
         fmt::format("indices stand in ( ): write {0}(i) for {0}[i]", name.text));
  }

  ExprId extremum(const Token& token) {
    const auto args = arguments(token);
    const Span span{token.span.begin, last_end()};
    if (args.size() != 2) {
      fail(source_, ErrorKind::ArityMismatch, span,
           fmt::format("{} takes two expressions, but {} came", token.text, args.size()));
    }
    return operation(token.text == "min" ? Operator::Min : Operator::Max, {args[0], args[1]}, span);
  }

  boost::container::small_vector<ExprId, 3> arguments(const Token& of) {
    boost::container::small_vector<ExprId, 3> args;
    const Span open = now().span;
    expect("(", fmt::format("after '{}'", of.text));
    if (take_if(")")) return args;
    do {
      args.push_back(expression());
    } while (take_if(","));
    close(")", open);
    return args;
  }

  ExprId literal(const Token& token) {
    Expr expr;
    expr.span = token.span;
    if (token.kind == TokenKind::Integer) {
      expr.integer = integer(token);
      expr.dtype = expr.integer > std::numeric_limits<std::int32_t>::max() ? DType::int64 : DType::int32;
    } else {
      expr.kind = ExprKind::Float;
      expr.dtype = DType::float32;
      const auto [end, error] = std::from_chars(token.text.data(), token.text.data() + token.text.size(), expr.number);
      if (error != std::errc{} && error != std::errc::result_out_of_range) {
        fail(source_, ErrorKind::Parse, token.span, "the number cannot be read");
      }
      if (error == std::errc::result_out_of_range) {
        fail(source_, ErrorKind::Parse, token.span, "the number does not fit a 64-bit float");
      }
    }
    return add(std::move(expr));
  }

  const Source& source_;
  std::span<const DType> types_;  // the dtypes of the type variables, for each definition
  std::vector<std::string_view> variables_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  int depth_ = 0;
  std::vector<Expr>* pool_ = nullptr;
};

}  // namespace

std::vector<Definition> parse(const Source& source, std::span<const DType> types) {
  return Parser(source, types).run();
}

}  // namespace oriel::lang
