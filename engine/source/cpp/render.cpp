#include "source/cpp/render.hpp"

#include <fmt/format.h>

#include <functional>

#include "codegen/cost.hpp"
#include "codegen/join.hpp"
#include "oriel/error.hpp"
#include "source/cpp/contraction_source.hpp"
#include "source/cpp/loop_order.hpp"
#include "source/cpp/scan_source.hpp"
#include "source/cpp/scatter_source.hpp"
#include "source/cpp/sort_source.hpp"
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
  if (program.sorting) return render_sort(program, keep, symbolic);
  if (program.scanning) return render_scan(program, keep, symbolic);
  if (program.scattering) return render_scatter(program, keep, symbolic);
  if (program.hosting) refuse_host(program);
  if (symbolic == nullptr) {
    if (const auto plan = rendered_contraction(program))
      return render_contraction(program, *plan, keep, longest_tile, shared);
    return render_loops(with_long_last_loop(program), {keep, longest_tile, -1, shared});
  }
  const std::optional<codegen::ProductForm> product = codegen::symbolic_form(*symbolic->program, program);
  if (!product) return render_loops(program, {keep, longest_tile, -1, nullptr, symbolic});
  // Which of the two runs depends on the sizes.
  codegen::LoopProgram plain = program;
  plain.name += "_loops";
  const LoopsSource loops = render_loops(plain, {keep, longest_tile, -1, nullptr, symbolic});
  LoopsSource made =
      render_contraction(program, *product, keep, longest_tile, *symbolic, {identifier(plain.name), loops.bytes});
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
  const auto number = [&](SymInt n) {
    return n.is_symbolic() ? fmt::format("sizes[{}]", table->place(n)) : to_string(n);
  };
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

std::string render_unit(const codegen::LoopProgram& symbolic, const codegen::LoopProgram& program,
                        std::span<const std::int32_t> accesses, SizeTable& table, std::string& name) {
  codegen::LoopProgram named = program;
  named.name = identifier("sized_" + codegen::name_without_sizes(program));
  const SymbolicSizes sizes{&symbolic, &table, {}, true, accesses};
  const auto source = [&] { return render_loops(named, {Keep::Heap, 256, -1, nullptr, &sizes}).source; };
  const std::size_t hash = std::hash<std::string>{}(source());
  name = named.name = fmt::format("{}_{:016x}", named.name, hash);
  return source();
}

}  // namespace oriel::source::cpp
