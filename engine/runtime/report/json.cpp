#include "runtime/report/json.hpp"

#include <fmt/format.h>

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

JsonWriter& JsonWriter::text(std::string_view value) {
  separate();
  out_ += '"';
  for (std::size_t k = 0; k < value.size(); ++k) {
    const auto c = static_cast<unsigned char>(value[k]);
    // U+2028 and U+2029 end a line in older JavaScript.
    const bool separator = c == 0xe2 && k + 2 < value.size() && static_cast<unsigned char>(value[k + 1]) == 0x80 &&
                           (static_cast<unsigned char>(value[k + 2]) & 0xfe) == 0xa8;
    if (separator) {
      out_ += static_cast<unsigned char>(value[k + 2]) == 0xa8 ? "\\u2028" : "\\u2029";
      k += 2;
    } else if (c == '"' || c == '\\') {
      out_ += '\\';
      out_ += value[k];
    } else if (c == '\n') {
      out_ += "\\n";
    } else if (c < 0x20 || c == '<' || c == '>' || c == '&' || c == 0x7f) {
      out_ += fmt::format("\\u{:04x}", c);
    } else {
      out_ += value[k];
    }
  }
  out_ += '"';
  return *this;
}

JsonWriter& JsonWriter::number(std::int64_t value) {
  separate();
  fmt::format_to(std::back_inserter(out_), "{}", value);
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
