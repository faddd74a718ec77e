// JSON text, written member by member.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace oriel::runtime {

/// Appends JSON to a text. Commas are put between the values of a list or object. The text may stand inside of a script
/// element of a page: `<`, `>` and `&` are written as \u escapes, so that no text ends the element. Bytes
/// that are no UTF-8 become U+FFFD.
class JsonWriter {
 public:
  JsonWriter& begin(char bracket);  ///< '{' or '['
  JsonWriter& end(char bracket);    ///< '}' or ']'
  JsonWriter& key(std::string_view name);
  JsonWriter& text(std::string_view value);
  JsonWriter& number(std::int64_t value);
  JsonWriter& number(double value);  ///< null unless it is finite
  JsonWriter& boolean(bool value);
  JsonWriter& null();
  /// Text that is JSON already.
  JsonWriter& raw(std::string_view json);

  const std::string& str() const noexcept { return out_; }

 private:
  void separate();

  std::string out_;
  bool first_ = true;  // does the next value begin a list, an object or a member?
};

}  // namespace oriel::runtime
