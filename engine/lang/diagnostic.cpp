#include "lang/diagnostic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "oriel/comprehension.hpp"

namespace oriel::lang {
namespace {

/// Longer lines are shown around the span only.
constexpr std::size_t kShownWidth = 160;

struct Place {
  std::size_t line = 1;
  std::size_t column = 1;
  std::string_view text;  // of the line, from `from` on
  std::size_t from = 0;
};

Place place_of(std::string_view text, Span span) {
  const std::size_t at = std::min<std::size_t>(span.begin, text.size());
  Place place;
  std::size_t start = 0;
  for (std::size_t k = 0; k < at; ++k) {
    if (text[k] != '\n') continue;
    ++place.line;
    start = k + 1;
  }
  place.column = at - start + 1;
  const std::size_t end = std::min(text.find('\n', start), text.size());
  place.text = text.substr(start, end - start);
  if (place.text.size() > kShownWidth) {
    place.from = place.column - 1 > kShownWidth / 2 ? place.column - 1 - kShownWidth / 2 : 0;
    place.text = place.text.substr(std::min(place.from, place.text.size()), kShownWidth);
  }
  return place;
}

// Tabs and other control characters as one blank, so that carets stay below what they mean.
std::string shown(std::string_view line) {
  std::string out(line);
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  }
  return out;
}

void append(std::string& out, const Source& source, Span span, std::string_view label, std::string_view message) {
  const Place place = place_of(source.text, span);
  const std::string number = fmt::format("{}", place.line);
  const std::size_t before = place.column - 1 - place.from;
  const std::size_t room = before < place.text.size() ? place.text.size() - before : 1;
  const std::size_t length = std::clamp<std::size_t>(span.end > span.begin ? span.end - span.begin : 1, 1, room);
  fmt::format_to(std::back_inserter(out), "{}:{}:{}: {}: {}\n  {} | {}\n  {} | {}^{}", source.name, place.line,
                 place.column, label, message, number, shown(place.text), std::string(number.size(), ' '),
                 std::string(before, ' '), std::string(length - 1, '~'));
}

constexpr std::array kNames{
#define ORIEL_LANG_ERROR_NAME(kind, name) std::string_view(name),
    ORIEL_LANG_ERRORS(ORIEL_LANG_ERROR_NAME)
#undef ORIEL_LANG_ERROR_NAME
};

}  // namespace

std::string_view name(ErrorKind kind) noexcept { return kNames[static_cast<std::size_t>(kind)]; }

void fail(const Source& source, ErrorKind kind, Span span, const std::string& message, const std::vector<Note>& notes) {
  std::string text;
  append(text, source, span, "error", fmt::format("{} [{}]", message, name(kind)));
  for (const Note& note : notes) {
    text += '\n';
    append(text, source, note.span, "note", note.message);
  }
  const Place place = place_of(source.text, span);
  throw ComprehensionError(text, std::string(name(kind)), place.line, place.column);
}

}  // namespace oriel::lang
