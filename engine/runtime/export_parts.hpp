// What exports of fixed and of open sizes share.
#pragma once

#include <fmt/format.h>

#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "runtime/export.hpp"

namespace oriel::runtime {

/// The flags with which an export gives the engine's bits.
inline constexpr const char* kExportFlags =
    "-O3 -fno-math-errno -fno-trapping-math -ffp-contract=off -fno-strict-aliasing";

class ExportWriter {
 public:
  template <class... T>
  void line(fmt::format_string<T...> format, T&&... arguments) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<T>(arguments)...);
    text_ += '\n';
  }
  void add(std::string_view text) { text_ += text; }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

/// "2, 3".
std::string number_list(const Ints& ints);
/// The type of a number that a caller gives.
std::string number_type(DType dtype);
/// The type in which the elements of an embedded array are written.
DType written_dtype(const ExportLeaf& leaf);
/// An embedded array: its elements between braces, with their type. `comment` stands before it.
void write_array(ExportWriter& text, const ExportLeaf& leaf, const std::string& comment);
/// What stands before kernels: contraction of products off, and GCC's warnings about its own headers.
std::string_view export_pragmas();
/// The function that checks what is handed over to run.
std::string_view export_check();

}  // namespace oriel::runtime
