#include <fmt/format.h>

#include "codegen/join.hpp"
#include "source/cpp/loops_source.hpp"
#include "source/cpp/render.hpp"
#include "source/cpp/spelling.hpp"
#include "source/cpp/unit.hpp"
#include "source/names.hpp"

namespace oriel::source::cpp {

// Writes one function for each part, which computes one row, and one that calls them for each outer point.
std::string render_parts(const codegen::LoopProgram& program, SharedHelpers* shared) {
  const std::string name = identifier(program.name);
  const int parts = codegen::parts_of(program);
  std::string declarations;
  std::string sources;
  std::string calls;
  for (int p = 0; p < parts; ++p) {
    const codegen::LoopProgram part = codegen::part_program(program, p, true);
    std::int64_t columns = 1;
    for (std::size_t d = program.outer.size(); d < part.outer.size(); ++d) columns *= part.outer[d].value();
    sources += '\n' + render_loops(part, {Keep::Stack, 256, -1, shared}).source;
    const std::string function = identifier(part.name);
    declarations += fmt::format(
        "namespace kernel_{0} {{\nunion Scalar;\n__attribute__((noinline)) static void {0}(void* const* arguments, "
        "const Scalar* parameters, std::int64_t first, std::int64_t last);\n}}\n",
        function);
    const std::string place = fmt::format("kernel_{}::", function);
    calls +=
        fmt::format("    {}{}(all, reinterpret_cast<const {}Scalar*>(parameters), point * {}, (point + 1) * {});\n",
                    place, function, place, columns, columns);
  }
  std::string text = fmt::format(
      "// Kernel {}: {} parts for each outer point; what a part leaves for the next is a row.\n#include "
      "<cstdint>\n\n{}\nnamespace kernel_{} {{\n\n{}",
      program.name, parts, declarations, name, scalar_type());
  text += fmt::format(
      "{} void {}(void* const* arguments, const Scalar* parameters, std::int64_t first, std::int64_t "
      "last) {{\n",
      kLoadedLinkage, name);
  const std::int64_t rows = numel(program.outer, "render").value();
  std::string rows_text;
  std::string ends;
  std::string list;
  for (std::size_t a = 0; a < program.arguments.size(); ++a) {
    const codegen::Argument& argument = program.arguments[a];
    if (!argument.local) {
      list += fmt::format("{}arguments[{}]", list.empty() ? "" : ", ", a);
      continue;
    }
    // The room behind it is for whole vectors that are written at its end.
    const std::int64_t bytes =
        argument.elements.value() / rows * static_cast<std::int64_t>(itemsize(argument.dtype)) + 64;
    rows_text += fmt::format("  unsigned char* const {} = new unsigned char[{}];\n", argument.name, bytes);
    ends += fmt::format("  delete[] {};\n", argument.name);
    list += fmt::format("{}{}", list.empty() ? "" : ", ", argument.name);
  }
  text += rows_text + fmt::format("  void* const all[] = {{{}}};\n", list);
  text += "  for (std::int64_t point = first; point < last; ++point) {\n" + calls + "  }\n" + ends;
  return text + fmt::format("}}\n\n}}  // namespace kernel_{}\n", name) + sources;
}

}  // namespace oriel::source::cpp
