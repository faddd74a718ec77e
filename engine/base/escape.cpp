#include "base/escape.hpp"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <iterator>

namespace oriel::base {
namespace {

struct Character {
  std::size_t length = 0;  // 0: not UTF-8
  char32_t code = 0;
};

// Decodes the first character, by the table of well-formed sequences (Unicode 15, table 3-7).
Character front(std::string_view text) {
  const auto byte = [&](std::size_t k) { return static_cast<unsigned char>(text[k]); };
  const unsigned first = byte(0);
  if (first < 0x80) return {1, first};
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return {};
  char32_t code = first & (0x7fU >> length);
  for (std::size_t k = 1; k < length; ++k) {
    if ((byte(k) & 0xc0U) != 0x80U) return {};
    code = code << 6U | (byte(k) & 0x3fU);
  }
  constexpr std::array<char32_t, 5> kLeast{0, 0, 0x80, 0x800, 0x10000};
  if (code < kLeast.at(length) || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return {};
  return {length, code};
}

bool acts(char32_t code) {
  const bool control = code < 0x20 || (code >= 0x7f && code < 0xa0);
  const bool direction = code == 0x200e || code == 0x200f || code == 0x061c || (code >= 0x202a && code <= 0x202e) ||
                         (code >= 0x2066 && code <= 0x2069);
  return control || direction || code == 0x2028 || code == 0x2029;
}

}  // namespace

std::string escaped(std::string_view text, bool keep_lines) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Character c = front(text);
    const std::size_t length = c.length == 0 ? 1 : c.length;
    const bool line = keep_lines && (c.code == '\n' || c.code == '\t');
    if (c.length > 0 && (line || !acts(c.code))) {
      out += text.substr(0, length);
    } else {
      for (const char byte : text.substr(0, length)) {
        fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<unsigned char>(byte));
      }
    }
    text.remove_prefix(length);
  }
  return out;
}

}  // namespace oriel::base
