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

/// A position in the tokens of a text. Errors are ComprehensionErrors (parse_error) at the present token.
class TokenStream {
 public:
  /// `source` must outlive the object.
  explicit TokenStream(const Source& source) : source_(source), tokens_(lex(source)) {}

  const Source& source() const { return source_; }
  /// The present token; End after the last one.
  const Token& now() const { return tokens_[at_]; }
  /// The end of the token before the present one.
  std::uint32_t last_end() const { return at_ == 0 ? 0 : tokens_[at_ - 1].span.end; }
  Token take() { return tokens_[at_ + 1 < tokens_.size() ? at_++ : at_]; }
  bool take_if(std::string_view symbol);
  bool take_word(std::string_view word);

  /// Throws: `wanted` should stand here.
  [[noreturn]] void unexpected(std::string_view wanted, const std::vector<Note>& notes = {}) const;
  /// Takes the symbol, or throws.
  void expect(std::string_view symbol, std::string_view after);
  /// Takes the symbol that ends a list, or throws. `open` is where the list begins.
  void close(std::string_view symbol, Span open);
  /// Rejects square brackets, with which other languages write an access.
  void refuse_brackets(const Token& name) const;

 private:
  const Source& source_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
};

}  // namespace oriel::lang
