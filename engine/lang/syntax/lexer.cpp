#include "lang/syntax/lexer.hpp"

#include <fmt/format.h>

#include <limits>

namespace oriel::lang {

namespace {

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
bool begins_name(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_blank(char c) noexcept { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v'; }

class Lexer {
 public:
  explicit Lexer(const Source& source) : source_(source), text_(source.text) {}

  std::vector<Token> run() {
    if (text_.size() > std::numeric_limits<std::uint32_t>::max() / 2) {
      fail(source_, ErrorKind::Parse, {}, "the text is longer than 2^31 bytes");
    }
    std::vector<Token> tokens;
    tokens.reserve(text_.size() / 2 + 2);
    for (;;) {
      skip();
      if (at_ == text_.size()) break;
      tokens.push_back(next());
    }
    const auto end = static_cast<std::uint32_t>(text_.size());
    tokens.push_back({TokenKind::End, {end, end}, {}});
    return tokens;
  }

 private:
  char look(std::size_t ahead = 0) const noexcept { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  void skip() {
    while (at_ < text_.size()) {
      if (is_blank(text_[at_])) {
        ++at_;
      } else if (text_[at_] == '#') {
        while (at_ < text_.size() && text_[at_] != '\n') ++at_;
      } else {
        return;
      }
    }
  }

  Token token(TokenKind kind, std::size_t begin) const {
    return {
        kind, {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(at_)}, text_.substr(begin, at_ - begin)};
  }

  Token next() {
    const std::size_t begin = at_;
    const char c = look();
    if (c == 'm') {  // min= and max= are symbols although they begin like a name
      for (const std::string_view symbol : {"min=!", "max=!", "min=", "max="}) {
        // min == and min => are the name and a comparison
        if (text_.substr(at_, symbol.size()) == symbol && text_.substr(at_ + 4, 1) != "=") {
          at_ += symbol.size();
          return token(TokenKind::Symbol, begin);
        }
      }
    }
    if (begins_name(c)) {
      while (begins_name(look()) || is_digit(look())) ++at_;
      return token(TokenKind::Name, begin);
    }
    if (is_digit(c) || (c == '.' && is_digit(look(1)))) return number(begin);
    if (c == '"') return quoted(begin);
    if (const std::size_t length = symbol_length(); length > 0) {
      at_ += length;
      return token(TokenKind::Symbol, begin);
    }
    const auto at = static_cast<std::uint32_t>(begin);
    const bool plain = c > ' ' && c < '\x7f';
    fail(source_, ErrorKind::Parse, {at, at + 1},
         plain ? fmt::format("no token of the notation begins with '{}'", c)
               : fmt::format(
                     "no token of the notation begins with byte 0x{:02x}; names consist of ASCII letters, digits and _",
                     static_cast<unsigned char>(c)));
  }

  // The length of the longest symbol at this position; 0 if none begins here.
  std::size_t symbol_length() const noexcept {
    const char second = look(1);
    switch (look()) {
      case '<':
        return second != '=' ? 1 : look(2) == '>' ? 3 : 2;
      case '+':
      case '*':
        return second != '=' ? 1 : look(2) == '!' ? 3 : 2;
      case '-':
        return second == '>' ? 2 : 1;
      case '>':
      case '=':
      case '!':
        return second == '=' ? 2 : 1;
      case '&':
      case '|':
        return second == look() ? 2 : 0;
      case '(':
      case ')':
      case '{':
      case '}':
      case ',':
      case ':':
      case '?':
      case '/':
      case '%':
      case '.':
      case '[':
      case ']':
      case ';':
      case '^':
        return 1;
      default:
        return 0;
    }
  }

  Token number(std::size_t begin) {
    bool whole = true;
    while (is_digit(look())) ++at_;
    if (look() == '.') {
      whole = false;
      ++at_;
      while (is_digit(look())) ++at_;
    }
    const char e = look();
    const std::size_t sign = look(1) == '+' || look(1) == '-' ? 1 : 0;
    if ((e == 'e' || e == 'E') && is_digit(look(1 + sign))) {
      whole = false;
      at_ += 2 + sign;
      while (is_digit(look())) ++at_;
    }
    return token(whole ? TokenKind::Integer : TokenKind::Float, begin);
  }

  Token quoted(std::size_t begin) {
    ++at_;
    while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\n') ++at_;
    if (look() != '"') {
      const auto at = static_cast<std::uint32_t>(begin);
      fail(source_, ErrorKind::Parse, {at, static_cast<std::uint32_t>(at_)}, "the string does not end on its line");
    }
    ++at_;
    return token(TokenKind::String, begin);
  }

  const Source& source_;
  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::vector<Token> lex(const Source& source) { return Lexer(source).run(); }

bool TokenStream::take_if(std::string_view symbol) {
  if (!now().is(symbol)) return false;
  take();
  return true;
}

bool TokenStream::take_word(std::string_view word) {
  if (!now().is_word(word)) return false;
  take();
  return true;
}

void TokenStream::unexpected(std::string_view wanted, const std::vector<Note>& notes) const {
  const Token& token = now();
  fail(source_, ErrorKind::Parse, token.span,
       token.kind == TokenKind::End ? fmt::format("expected {}, but the text ends", wanted)
                                    : fmt::format("expected {}, but found '{}'", wanted, token.text),
       notes);
}

void TokenStream::expect(std::string_view symbol, std::string_view after) {
  if (!take_if(symbol)) unexpected(fmt::format("'{}' {}", symbol, after));
}

void TokenStream::close(std::string_view symbol, Span open) {
  if (!take_if(symbol)) {
    unexpected(fmt::format("',' or '{}'", symbol), {{open, fmt::format("'{}' would close this", symbol)}});
  }
}

void TokenStream::refuse_brackets(const Token& name) const {
  if (!now().is("[")) return;
  fail(source_, ErrorKind::Parse, now().span, fmt::format("indices stand in ( ): write {0}(i) for {0}[i]", name.text));
}

}  // namespace oriel::lang
