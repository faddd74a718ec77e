#include "source/cpp/render.hpp"

#include <fmt/format.h>

#include <functional>

#include "codegen/cost.hpp"
#include "codegen/join.hpp"
#include "oriel/error.hpp"
#include "source/cpp/alone_source.hpp"
#include "source/cpp/contraction_source.hpp"
#include "source/cpp/loops_source.hpp"
#include "source/cpp/spelling.hpp"
#include "source/cpp/unit.hpp"
#include "source/names.hpp"

namespace oriel::source::cpp {

namespace {

/// No source holds a program's function: a dump says so, and an export refuses it.
[[noreturn]] void refuse_host(const codegen::LoopProgram& program) {
  throw ArgumentError(
      "export_cpp",
      fmt::format("kernel {} calls the host function \"{}\", which is no source; export what comes before "
                  "and after it, and call it between the two",
                  program.name, program.hosting->function->name));
}

LoopsSource render_one(const codegen::LoopProgram& program, Keep keep, int longest_tile,
                       SharedHelpers* shared = nullptr, const SymbolicSizes* symbolic = nullptr) {
  if (program.hosting) refuse_host(program);
  if (codegen::runs_alone(program)) return render_alone(program, keep, symbolic);
  if (symbolic == nullptr) {
    if (const auto plan = rendered_contraction(program))
      return render_contraction(program, *plan, {keep, longest_tile, -1, shared});
    return render_loops(with_long_last_loop(program), {keep, longest_tile, -1, shared});
  }
  const LoopsForm form{keep, longest_tile, -1, nullptr, symbolic};
  const std::optional<codegen::ProductForm> product = codegen::symbolic_form(program);
  if (!product) return render_loops(program, form);
  // Which of the two runs depends on the sizes.
  codegen::LoopProgram plain = program;
  plain.name += "_loops";
  const LoopsSource loops = render_loops(plain, form);
  const PlainLoops called{identifier(plain.name), loops.bytes};
  const LoopsSource made = render_contraction(program, *product, form, &called);
  return {loops.source + "\n" + made.source, made.bytes, loops.eigen || made.eigen};
}

std::string host_text(const codegen::LoopProgram& program) {
  return fmt::format("// {} calls a function of the program.\n", program.name);
}

}  // namespace

std::string render(const codegen::LoopProgram& program) {
  if (program.hosting) return host_text(program);
  if (codegen::parts_of(program) > 1) return render_parts(program);
  return render_one(program, Keep::Heap, 256).source;
}

std::string render_beside(const codegen::LoopProgram& program, SharedHelpers& shared) {
  if (program.hosting) return host_text(program);
  if (codegen::parts_of(program) > 1) return render_parts(program, &shared);
  return render_one(program, Keep::Heap, 256, &shared).source;
}

LoopsSource render_embedded(const codegen::LoopProgram& program, Keep keep, int longest_tile,
                            const SymbolicSizes* symbolic) {
  return render_one(program, keep, longest_tile, nullptr, symbolic);
}

std::string render_fused(const std::string& name, std::span<const FusedPart> parts, std::span<const SymInt> row_bytes,
                         SymInt rows, SizeTable* table, bool framed) {
  const auto number = [&](SymInt n) { return size_text(n, table); };
  std::string text = fmt::format(
      "// Kernel {}: parts that run for some rows at a time\n#include <cstdint>\n\nnamespace "
      "kernel_{} {{\n\nusing Int = std::int64_t;\n",
      name, name);
  text += scalar_type();
  text += entry_head(kEmbeddedLinkage, name, table != nullptr, framed);
  text += fmt::format(
      "  const Int most = {};\n  for (Int row = first, end; row < last; row = end) {{\n"
      "    end = last - row < most ? last : row + most;\n",
      number(rows));
  for (const FusedPart& part : parts) {
    std::string list;
    for (const std::size_t a : part.arguments) {
      if (!list.empty()) list += ", ";
      list += identical(row_bytes[a], SymInt(0))
                  ? fmt::format("arguments[{}]", a)
                  : fmt::format(
                        "reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(arguments[{}]) - "
                        "static_cast<std::uintptr_t>(row * {}))",
                        a, number(row_bytes[a]));
    }
    text += fmt::format(
        "    {{\n      void* const list[] = {{{0}}};\n      kernel_{1}::{1}(list, reinterpret_cast<const "
        "kernel_{1}::Scalar*>(parameters), row * {2}, end * {2}{3}{4});\n    }}\n",
        list, part.name, number(part.points), table != nullptr ? ", sizes" : "", framed ? ", frame" : "");
  }
  return text + fmt::format("  }}\n}}\n\n}}  // namespace kernel_{}\n", name);
}

std::string render_unit(codegen::LoopProgram program, SizeTable& table, std::string& name) {
  program.name = identifier("sized_" + codegen::name_without_sizes(program));
  const SymbolicSizes sizes{&table, {}, true};
  const auto source = [&] { return render_one(program, Keep::Heap, 256, nullptr, &sizes).source; };
  const std::size_t hash = std::hash<std::string>{}(source());
  name = program.name = fmt::format("{}_{:016x}", program.name, hash);
  return source();
}

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
