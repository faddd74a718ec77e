// The words of a comprehension.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "lang/diagnostic.hpp"

namespace oriel::lang {

enum class TokenKind : std::uint8_t { Name, Integer, Float, String, Symbol, End };

/// A word of the text. Symbols and keywords are told by their text.
struct Token {
  TokenKind kind = TokenKind::End;
  Span span;
  std::string_view text;

  bool is(std::string_view symbol) const noexcept { return kind == TokenKind::Symbol && text == symbol; }
  bool is_word(std::string_view word) const noexcept { return kind == TokenKind::Name && text == word; }
};

/// The words of the text, then End. Blanks and comments (# to the end of the line) only separate. The longest symbol
/// wins: +=!x is `+=!` and x. A number begins with a digit, or with a point before one, is decimal, and is a float
/// where it has a point or an exponent (e or E). Throws ComprehensionError (parse_error) for a character that begins no
/// word.
std::vector<Token> lex(const Source& source);

}  // namespace oriel::lang
