#include "lang/syntax/token_stream.hpp"

#include <fmt/format.h>

namespace oriel::lang {

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
