#include <fmt/format.h>

#include <optional>

#include "lang/syntax/lexer.hpp"
#include "lang/syntax/parse_expression.hpp"
#include "lang/syntax/syntax.hpp"
#include "lang/syntax/words.hpp"

namespace oriel::lang {
namespace {

class Parser {
 public:
  Parser(const Source& source, std::span<const DType> types) : tokens_(source), types_{{}, types} {}

  std::vector<Definition> run() {
    std::vector<Definition> definitions;
    do {
      definitions.push_back(definition());
    } while (tokens_.now().kind != TokenKind::End);
    return definitions;
  }

 private:
  Token name(std::string_view what) {
    if (tokens_.now().kind != TokenKind::Name) tokens_.unexpected(what);
    if (is_keyword(tokens_.now().text) || types_.type_of(tokens_.now().text)) {
      fail(tokens_.source(), ErrorKind::Parse, tokens_.now().span,
           fmt::format("expected {}, but '{}' is a word of the notation", what, tokens_.now().text));
    }
    return tokens_.take();
  }

  Definition definition() {
    Definition out;
    out.pool.reserve(32);
    expressions_.emplace(tokens_, types_, out.pool);
    const Span start = tokens_.now().span;
    if (!tokens_.take_word("def")) tokens_.unexpected("'def'");
    const Token called = name("the definition's name");
    out.name = called.text;
    out.name_span = called.span;
    types_.names.clear();
    if (tokens_.take_if("<")) {
      do {
        types_.names.push_back(name("the name of a type").text);
      } while (tokens_.take_if(","));
      tokens_.expect(">", "after the names of types");
    }
    out.types = types_.names;
    Span open = tokens_.now().span;
    tokens_.expect("(", "after the definition's name");
    if (!tokens_.take_if(")")) {
      do {
        out.parameters.push_back(parameter());
      } while (tokens_.take_if(","));
      tokens_.close(")", open);
    }
    tokens_.expect("->", "and the results");
    open = tokens_.now().span;
    if (tokens_.take_if("(")) {
      do {
        out.results.push_back(result());
      } while (tokens_.take_if(","));
      tokens_.close(")", open);
    } else {
      out.results.push_back(result());
    }
    open = tokens_.now().span;
    tokens_.expect("{", "before the statements");
    while (!tokens_.now().is("}")) {
      if (tokens_.now().kind == TokenKind::End) tokens_.unexpected("'}'", {{open, "'}' would close this"}});
      out.statements.push_back(statement());
    }
    tokens_.take();
    out.span = {start.begin, tokens_.last_end()};
    return out;
  }

  DType type() {
    const std::optional<DType> dtype =
        tokens_.now().kind == TokenKind::Name ? types_.type_of(tokens_.now().text) : std::nullopt;
    if (!dtype) tokens_.unexpected("a type (bool, int8 to int64, uint8 to uint64, float16, float, double)");
    tokens_.take();
    return *dtype;
  }

  std::vector<Dimension> dimensions() {
    std::vector<Dimension> dims;
    const Span open = tokens_.now().span;
    tokens_.expect("(", "before the dimensions");
    if (tokens_.take_if(")")) return dims;
    do {
      Dimension dim;
      dim.span = tokens_.now().span;
      if (tokens_.now().kind == TokenKind::Integer) {
        dim.value = integer(tokens_.source(), tokens_.take());
      } else {
        dim.name = name("a size variable or a number").text;
      }
      dims.push_back(dim);
    } while (tokens_.take_if(","));
    tokens_.close(")", open);
    return dims;
  }

  Parameter parameter() {
    Parameter out;
    const Span start = tokens_.now().span;
    out.type = types_.find(tokens_.now().text);
    out.dtype = type();
    if (tokens_.now().is("(")) out.dims = dimensions();
    out.name = name("the parameter's name").text;
    out.span = {start.begin, tokens_.last_end()};
    return out;
  }

  Result result() {
    Result out;
    const Span start = tokens_.now().span;
    if (tokens_.now().kind == TokenKind::Name && types_.type_of(tokens_.now().text)) {
      out.dtype = type();
      out.has_dims = tokens_.now().is("(");
      if (out.has_dims) out.dims = dimensions();
    }
    out.name = name("a result's name").text;
    out.span = {start.begin, tokens_.last_end()};
    return out;
  }

  Statement statement() {
    Statement out;
    const Token target = name("a statement, T(i, ..) = .., or '}'");
    out.target = target.text;
    out.target_span = target.span;
    tokens_.refuse_brackets(target);
    const Span open = tokens_.now().span;
    if (tokens_.take_if("(") && !tokens_.take_if(")")) {
      do {
        const ExprId position = expressions_->expression();
        const Expr& expr = (*expressions_)[position];
        out.left.push_back(expr.kind == ExprKind::Name ? Index{expr.span, expr.name} : Index{expr.span, {}, position});
      } while (tokens_.take_if(","));
      tokens_.close(")", open);
    }
    out.head = {target.span.begin, tokens_.last_end()};
    out.operator_span = tokens_.now().span;
    const AssignmentSymbol* found = nullptr;
    for (const AssignmentSymbol& assignment : kAssignments) {
      if (tokens_.now().is(assignment.symbol)) found = &assignment;
    }
    if (found == nullptr) tokens_.unexpected("one of = += *= min= max= +=! *=! min=! max=!");
    tokens_.take();
    out.assignment = found->assignment;
    out.initialises = found->initialises;
    out.right = expressions_->expression();
    equivalent();
    if (tokens_.take_word("where")) {
      do {
        out.clauses.push_back(clause());
      } while (tokens_.take_if(","));
      equivalent();
    }
    out.span = {target.span.begin, tokens_.last_end()};
    return out;
  }

  // Parses `<=>`, which names an equivalent function of a library: a string or a dotted name, perhaps with arguments.
  // It has no effect.
  void equivalent() {
    if (!tokens_.take_if("<=>")) return;
    if (tokens_.now().kind == TokenKind::String) {
      tokens_.take();
    } else {
      name("the equivalent's name or a string");
      while (tokens_.take_if(".")) name("a name");
    }
    const Span open = tokens_.now().span;
    if (tokens_.take_if("(") && !tokens_.take_if(")")) {
      do {
        expressions_->expression();
      } while (tokens_.take_if(","));
      tokens_.close(")", open);
    }
  }

  Clause clause() {
    Clause out;
    const Span start = tokens_.now().span;
    if (tokens_.take_word("exists")) {
      out.kind = Clause::Kind::Exists;
      out.first = expressions_->expression();
    } else {
      const Token named = name("a clause: v in a:b, v = e, or exists e");
      out.name = named.text;
      out.name_span = named.span;
      if (tokens_.take_if("=")) {
        out.kind = Clause::Kind::Let;
        out.first = expressions_->expression();
      } else if (tokens_.take_word("in")) {
        out.first = expressions_->expression();
        tokens_.expect(":", "between the ends of the range");
        out.second = expressions_->expression();
      } else {
        tokens_.unexpected("'in' or '='");
      }
    }
    out.span = {start.begin, tokens_.last_end()};
    return out;
  }

  TokenStream tokens_;
  TypeVariables types_;
  std::optional<ExpressionParser> expressions_;  // of the present definition
};

}  // namespace

std::vector<Definition> parse(const Source& source, std::span<const DType> types) {
  return Parser(source, types).run();
}

}  // namespace oriel::lang
