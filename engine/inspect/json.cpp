#include "inspect/json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace oriel::runtime {

void JsonWriter::separate() {
  if (!first_) out_ += ',';
  first_ = false;
}

JsonWriter& JsonWriter::begin(char bracket) {
  separate();
  out_ += bracket;
  first_ = true;
  return *this;
}

JsonWriter& JsonWriter::end(char bracket) {
  out_ += bracket;
  first_ = false;
  return *this;
}

JsonWriter& JsonWriter::key(std::string_view name) {
  text(name);
  out_ += ':';
  first_ = true;
  return *this;
}

namespace {

/// The bytes of the well-formed UTF-8 character at the start of a text; 0 if it is none (RFC 3629).
std::size_t character_bytes(std::string_view text) {
  const auto byte = [&](std::size_t k) { return static_cast<unsigned char>(text[k]); };
  const unsigned char first = byte(0);
  const std::size_t bytes = first < 0x80                    ? 1
                            : first >= 0xc2 && first < 0xe0 ? 2
                            : (first & 0xf0) == 0xe0        ? 3
                            : first >= 0xf0 && first < 0xf5 ? 4
                                                            : 0;
  if (bytes == 0 || text.size() < bytes) return 0;
  for (std::size_t k = 1; k < bytes; ++k) {
    if ((byte(k) & 0xc0) != 0x80) return 0;
  }
  const bool overlong = (first == 0xe0 && byte(1) < 0xa0) || (first == 0xf0 && byte(1) < 0x90);
  const bool surrogate = first == 0xed && byte(1) >= 0xa0;
  return overlong || surrogate || (first == 0xf4 && byte(1) >= 0x90) ? 0 : bytes;
}

}  // namespace

JsonWriter& JsonWriter::text(std::string_view value) {
  separate();
  out_ += '"';
  for (std::size_t k = 0; k < value.size();) {
    const auto c = static_cast<unsigned char>(value[k]);
    const std::size_t bytes = character_bytes(value.substr(k));
    const std::string_view character = value.substr(k, std::max<std::size_t>(bytes, 1));
    k += character.size();
    if (bytes == 0) {
      out_ += "\\ufffd";                                                      // a file in another encoding
    } else if (character == "\xe2\x80\xa8" || character == "\xe2\x80\xa9") {  // they end a line in older JavaScript
      out_ += character.back() == '\xa8' ? "\\u2028" : "\\u2029";
    } else if (c == '"' || c == '\\') {
      out_ += '\\';
      out_ += character;
    } else if (c == '\n') {
      out_ += "\\n";
    } else if (c < 0x20 || c == '<' || c == '>' || c == '&' || c == 0x7f) {
      out_ += fmt::format("\\u{:04x}", c);
    } else {
      out_ += character;
    }
  }
  out_ += '"';
  return *this;
}

JsonWriter& JsonWriter::number(std::int64_t value) {
  separate();
  const fmt::format_int digits(value);
  out_.append(digits.data(), digits.size());
  return *this;
}

JsonWriter& JsonWriter::number(double value) {
  separate();
  if (std::isfinite(value))
    fmt::format_to(std::back_inserter(out_), "{}", value);
  else
    out_ += "null";
  return *this;
}

JsonWriter& JsonWriter::boolean(bool value) {
  separate();
  out_ += value ? "true" : "false";
  return *this;
}

JsonWriter& JsonWriter::null() {
  separate();
  out_ += "null";
  return *this;
}

JsonWriter& JsonWriter::raw(std::string_view json) {
  separate();
  out_ += json;
  return *this;
}

}  // namespace oriel::runtime
