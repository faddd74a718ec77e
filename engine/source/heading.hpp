// The comment at the head of a source: loops, arguments and accesses of its program.
#pragma once

#include <fmt/format.h>

#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "codegen/loop_program.hpp"

namespace oriel::source {

/// Lines that begin with //.
class Heading {
 public:
  template <class... T>
  void add(fmt::format_string<T...> format, T&&... arguments) {
    text_ += "// ";
    fmt::format_to(std::back_inserter(text_), format, std::forward<T>(arguments)...);
    text_ += '\n';
  }
  void add_blank() { text_ += "//\n"; }
  /// The extents of outer loops and of each stage's.
  void add_loops(const codegen::LoopProgram& program);
  /// "float32[4480], written".
  static std::string argument(const codegen::Argument& argument);
  /// A line for each access, by the arguments' names in `buffers`; neighbours that are equal have one.
  void add_accesses(const codegen::LoopProgram& program, const std::vector<std::string>& buffers);

  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace oriel::source
