// What both files of an export are made of.
#pragma once

#include <fmt/format.h>

#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "source/cpp/export/unit.hpp"

namespace oriel::source::cpp {

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

/// A number that a caller gives: `value` is its default.
struct NumberMember {
  std::string type;
  std::string name;
  std::string value;
};
std::vector<NumberMember> numbers_of(std::span<const ExportUnit* const> plans);
/// The parameters of run.
std::string run_parameters(const ExportUnit& unit, bool numbers);
/// "float32 (2*n, 4), in strides of (1, 2*n)".
std::string described(const ExportUnit& unit, const ExportedTensor& t);
/// The type in which the elements of an embedded array are written.
DType written_dtype(const ExportLeaf& leaf);
/// An embedded array: its elements between braces, with their type. `comment` stands before it.
void write_array(ExportWriter& text, const ExportLeaf& leaf, const std::string& comment);
/// What stands before kernels: contraction of products off, and GCC's warnings about its own headers.
std::string_view export_pragmas();

}  // namespace oriel::source::cpp
