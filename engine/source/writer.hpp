// Lines of a rendered source, and the variables that they declare.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <iterator>
#include <set>
#include <string>
#include <utility>

namespace oriel::source {

/// Writes indented lines. In a large kernel (`framed`) variables are members of a frame that its functions share;
/// otherwise they are declared where they are set.
class Writer {
 public:
  void set_framed(bool framed) { framed_ = framed; }
  bool framed() const { return framed_; }

  template <class... T>
  void line(fmt::format_string<T...> format, T&&... arguments) {
    out_->append(2 * static_cast<std::size_t>(indent_), ' ');
    fmt::format_to(std::back_inserter(*out_), format, std::forward<T>(arguments)...);
    *out_ += '\n';
  }
  template <class... T>
  void open(fmt::format_string<T...> format, T&&... arguments) {
    line(format, std::forward<T>(arguments)...);
    ++indent_;
  }
  void close() {
    --indent_;
    line("}}");
  }
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

  /// A variable of the kernel: in large kernels a member of the frame that their functions share.
  std::string var(const std::string& name) const { return framed_ ? "f." + name : name; }
  /// Declares and sets, or sets the frame's member.
  void set(const std::string& type, const std::string& name, const std::string& value) {
    if (framed_) {
      member(type, name);
      line("f.{} = {};", name, value);
    } else {
      line("const {} {} = {};", type, name, value);
    }
  }
  /// The same for a variable that changes.
  void declare(const std::string& type, const std::string& name, const std::string& value) {
    if (framed_) {
      set(type, name, value);
    } else {
      line("{} {} = {};", type, name, value);
    }
  }
  void member(const std::string& type, const std::string& name) {
    if (names_.insert(name).second) frame_ += fmt::format("  {} {};\n", type, name);
  }

  int indent() const { return indent_; }
  void set_indent(int indent) { indent_ = indent; }
  /// The frame's members, as declared so far.
  const std::string& members() const { return frame_; }

 private:
  bool framed_ = false;
  int indent_ = 0;
  std::string* out_ = nullptr;
  std::set<std::string> names_;
  std::string frame_;
};

}  // namespace oriel::source
