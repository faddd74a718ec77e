#include "lang/syntax/diagnostic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "base/escape.hpp"
#include "oriel/comprehension.hpp"

namespace oriel::lang {
namespace {

/// Of longer lines only the part around the span is shown.
constexpr std::size_t kShownWidth = 160;

// The line with control characters replaced by blanks and each byte that is not printable ASCII by one character, so
// that carets stay below the text they mark.
std::string shown(std::string_view line) {
  std::string out(line);
  for (char& c : out) {
    if (c >= '\0' && c < ' ') c = ' ';
    if (c < ' ' || c == '\x7f') c = '?';
  }
  return out;
}

void append(std::string& out, const Source& source, const Lines& lines, Span span, std::string_view label,
            const std::string& message) {
  const Lines::LineColumn place = lines.place(span);
  std::string_view text = std::string_view(source.text).substr(place.begin, place.end - place.begin);
  std::size_t before = place.column - 1;
  if (text.size() > kShownWidth) {
    const std::size_t from = before > kShownWidth / 2 ? before - kShownWidth / 2 : 0;
    text = text.substr(std::min(from, text.size()), kShownWidth);
    before -= from;
  }
  const std::string number = fmt::format("{}", place.line);
  const std::size_t room = before < text.size() ? text.size() - before : 1;
  const std::size_t length = std::clamp<std::size_t>(span.end > span.begin ? span.end - span.begin : 1, 1, room);
  fmt::format_to(std::back_inserter(out), "{}:{}:{}: {}: {}\n  {} | {}\n  {} | {}^{}", base::escaped(source.name),
                 place.line, place.column, label, base::escaped(message), number, shown(text),
                 std::string(number.size(), ' '), std::string(before, ' '), std::string(length - 1, '~'));
}

constexpr std::array kNames{
#define ORIEL_LANG_ERROR_NAME(kind, name) std::string_view(name),
    ORIEL_LANG_ERRORS(ORIEL_LANG_ERROR_NAME)
#undef ORIEL_LANG_ERROR_NAME
};

}  // namespace

std::string_view name(ErrorKind kind) noexcept { return kNames[static_cast<std::size_t>(kind)]; }

Lines::Lines(std::string_view text) : begins_{0}, size_(text.size()) {
  for (std::size_t k = text.find('\n'); k != std::string_view::npos; k = text.find('\n', k + 1)) {
    begins_.push_back(k + 1);
  }
}

Lines::LineColumn Lines::place(Span span) const {
  const std::size_t at = std::min<std::size_t>(span.begin, size_);
  const auto next = std::upper_bound(begins_.begin(), begins_.end(), at);
  const std::size_t begin = *(next - 1);
  return {static_cast<std::size_t>(next - begins_.begin()), at - begin + 1, begin,
          next == begins_.end() ? size_ : *next - 1};
}

std::string diagnostic(const Source& source, const Lines& lines, std::string_view label, Span span,
                       const std::string& message, const std::vector<Note>& notes) {
  std::string text;
  append(text, source, lines, span, label, message);
  for (const Note& note : notes) {
    text += '\n';
    append(text, source, lines, note.span, "note", note.message);
  }
  return text;
}

void fail(const Source& source, ErrorKind kind, Span span, const std::string& message, const std::vector<Note>& notes) {
  const Lines lines(source.text);
  const Lines::LineColumn place = lines.place(span);
  throw ComprehensionError(diagnostic(source, lines, "error", span, fmt::format("{} [{}]", message, name(kind)), notes),
                           std::string(name(kind)), place.line, place.column);
}

}  // namespace oriel::lang
