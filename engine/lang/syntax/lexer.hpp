// The lexer: splits a comprehension into tokens.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "lang/syntax/diagnostic.hpp"

namespace oriel::lang {

enum class TokenKind : std::uint8_t { Name, Integer, Float, String, Symbol, End };

/// A token. Symbols and keywords are identified by their text.
struct Token {
  TokenKind kind = TokenKind::End;
  Span span;
  std::string_view text;

  bool is(std::string_view symbol) const noexcept { return kind == TokenKind::Symbol && text == symbol; }
  bool is_word(std::string_view word) const noexcept { return kind == TokenKind::Name && text == word; }
};

/// The tokens of the text, then End. Blanks and comments (# to the end of the line) only separate tokens. The longest
/// symbol wins: +=!x is `+=!` and x. Numbers are decimal and begin with a digit, or a point and a digit. A number is a
/// float if it has a point or an exponent (e or E). Throws ComprehensionError (parse_error) for a character that begins
/// no token.
std::vector<Token> lex(const Source& source);

}  // namespace oriel::lang
