// Indented lines of a source.
#pragma once

#include <fmt/format.h>

#include <iterator>
#include <string>
#include <utility>

namespace oriel::source {

class Writer {
 public:
  template <class... T>
  void line(fmt::format_string<T...> format, T&&... arguments) {
    out_->append(2 * static_cast<std::size_t>(indent_), ' ');
    fmt::format_to(std::back_inserter(*out_), format, std::forward<T>(arguments)...);
    *out_ += '\n';
  }
  /// A line after which all are indented by one level more, until `close`.
  template <class... T>
  void open(fmt::format_string<T...> format, T&&... arguments) {
    line(format, std::forward<T>(arguments)...);
    ++indent_;
  }
  void close() {
    --indent_;
    line("}}");
  }
  /// Between `open` and `close` of an if.
  void otherwise() {
    --indent_;
    open("}} else {{");
  }
  /// What `write` writes.
  template <class F>
  std::string capture(F&& write) {
    std::string text;
    std::string* const before = std::exchange(out_, &text);
    write();
    out_ = before;
    return text;
  }

  /// Writes to `text` instead, at a depth of its own.
  template <class F>
  void elsewhere(std::string& text, int depth, F&& write) {
    std::string* const before = std::exchange(out_, &text);
    const int indent = std::exchange(indent_, depth);
    write();
    out_ = before;
    indent_ = indent;
  }

  int indent() const { return indent_; }
  void set_indent(int indent) { indent_ = indent; }

 private:
  int indent_ = 0;
  std::string* out_ = nullptr;
};

}  // namespace oriel::source
