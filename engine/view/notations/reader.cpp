// The words of the notations, read from the left.
#include <fmt/format.h>

#include <cctype>

#include "oriel/error.hpp"
#include "view/notations/text.hpp"

namespace oriel::layouts {
namespace {

constexpr int kDeepest = 64;
constexpr std::size_t kMostNumbers = 1024;

}  // namespace

bool Reader::take(std::string_view word) {
  if (!sees(word)) return false;
  text_.remove_prefix(word.size());
  skip();
  return true;
}

void Reader::expect(std::string_view word) {
  if (!take(word)) refuse(fmt::format("'{}'", word));
}

std::string_view Reader::next_word() const {
  std::size_t length = 0;
  while (length < text_.size() &&
         (std::isalnum(static_cast<unsigned char>(text_[length])) != 0 || text_[length] == '_'))
    ++length;
  return length == 0 || std::isdigit(static_cast<unsigned char>(text_[0])) != 0 ? std::string_view()
                                                                                : text_.substr(0, length);
}

std::string_view Reader::word() {
  const std::string_view word = next_word();
  text_.remove_prefix(word.size());
  skip();
  return word;
}

SymInt Reader::number() {
  const bool negative = take("-");
  if (text_.empty() || std::isdigit(static_cast<unsigned char>(text_[0])) == 0) refuse("an integer");
  SymInt value = 0;
  try {
    for (; !text_.empty() && std::isdigit(static_cast<unsigned char>(text_[0])) != 0; text_.remove_prefix(1))
      value = value * 10 + (negative ? -(text_[0] - '0') : text_[0] - '0');
  } catch (const OverflowError&) {
    throw ParseError("layout", fmt::format("a number of '{}' does not fit a signed 64-bit integer", whole_));
  }
  skip();
  return value;
}

Ints Reader::numbers() {
  Ints numbers;
  const std::string_view close = sees("(") ? ")" : sees("[") ? "]" : "";
  if (close.empty()) {
    numbers.push_back(number());
    return numbers;
  }
  take(close == ")" ? "(" : "[");
  while (!take(close)) {
    numbers.push_back(number());
    if (numbers.size() > kMostNumbers) refuse(fmt::format("at most {} axes", kMostNumbers));
    if (!take(",") && !sees(close)) refuse(fmt::format("',' or '{}'", close));
  }
  return numbers;
}

IntTuple Reader::tree(int depth) {
  if (depth > kDeepest) refuse(fmt::format("at most {} lists in each other", kDeepest));
  if (!take("(")) {
    take("_");
    return IntTuple::of(number());
  }
  IntTuple list = IntTuple::of(std::vector<IntTuple>());
  while (!take(")")) {
    list.parts.push_back(tree(depth + 1));
    if (list.parts.size() > kMostNumbers) refuse(fmt::format("at most {} modes", kMostNumbers));
    if (!take(",") && !sees(")")) refuse("',' or ')'");
  }
  return list;
}

void Reader::end() {
  if (!done()) refuse("nothing");
}

void Reader::refuse(std::string_view expected) const {
  throw ParseError("layout",
                   fmt::format("expected {} {}'{}'; such a layout is written {}", expected,
                               text_.empty() ? "at the end of " : fmt::format("at '{}' of ", text_), whole_, form_));
}

void Reader::skip() {
  while (!text_.empty() && std::isspace(static_cast<unsigned char>(text_[0])) != 0) text_.remove_prefix(1);
}

}  // namespace oriel::layouts
