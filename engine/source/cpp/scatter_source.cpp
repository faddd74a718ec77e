#include "source/cpp/scatter_source.hpp"

#include <fmt/format.h>

#include "source/cpp/heading.hpp"
#include "source/cpp/spelling.hpp"
#include "source/cpp/unit.hpp"
#include "source/names.hpp"

namespace oriel::source::cpp {
LoopsSource render_scatter(const codegen::LoopProgram& program, Keep keep, const SymbolicSizes* symbolic) {
  const codegen::Scattering& s = *program.scattering;
  const DType dtype = program.arguments.back().dtype;
  const std::string name = identifier(program.name), type = memory_type(dtype);
  const bool numbers = s.op == graph::Op::ScatterLast;
  Snippets snippets;
  snippets.need("scatters");
  std::string combine;
  if (!numbers) {
    const std::string functor(ops::functor(graph::row(s.op).combination, dtype));
    const std::string identity(ops::name(ops::identity(s.op, dtype)));
    snippets.need(functor);
    snippets.need(identity);
    combine = fmt::format("scatter<{}, {}>", functor, identity);
  }

  std::string text;
  if (symbolic != nullptr) {
    text = fmt::format("// Kernel {}\n", program.name);
  } else {
    std::vector<std::string> names;
    for (const codegen::Argument& a : program.arguments) names.push_back(a.name);
    text = heading(program, names);
  }
  text += "// Combines elements into the entries that positions name\n";
  for (const std::string& include : includes(snippets, false)) text += include;
  text += fmt::format("\nnamespace kernel_{} {{\n\n", name);
  text += scalar_type();
  text += "namespace {\n\n";
  text += helper_types(std::nullopt, snippets) + snippets.text();
  text += "\n}  // namespace\n\n";
  text += entry_head(keep == Keep::Heap ? kLoadedLinkage : "static", name, symbolic != nullptr, keep == Keep::Frame);
  text += "  static_cast<void>(parameters);\n";
  if (keep == Keep::Frame) text += "  static_cast<void>(frame);\n";
  if (symbolic != nullptr) text += "  static_cast<void>(sizes);\n";
  const std::size_t result = program.arguments.size() - 1;
  text +=
      fmt::format("  const Int keys = {}, extent = {}, inner = {};\n", extent_of(symbolic, 0, s.each ? 1 : 0, s.keys),
                  extent_of(symbolic, result, 1, s.extent), extent_of(symbolic, result, 2, s.inner));
  text += "  const Int* const positions = static_cast<const Int*>(arguments[0]);\n";
  if (!numbers) text += fmt::format("  const {0}* const x = static_cast<const {0}*>(arguments[1]);\n", type);
  text += fmt::format("  {0}* const out = static_cast<{0}*>(arguments[{1}]);\n", type, result);
  text += "  for (Int row = first; row < last; ++row) {\n";
  text += fmt::format("    const ScatterBlock block{{positions{}, keys, extent, inner, {}, 0, extent, 0, inner}};\n",
                      s.each ? " + row * keys * inner" : "", s.each);
  const std::string to = "out + row * extent * inner, block";
  if (numbers) {
    text += fmt::format("    scatter_last({});\n", to);
  } else if (s.number) {
    text += fmt::format("    {}({}, x, 0, 0);\n", combine, to);
  } else {
    text += fmt::format("    {}({}, x + row * keys * inner, inner, 1);\n", combine, to);
  }
  text += "  }\n}\n";
  text += fmt::format("\n}}  // namespace kernel_{}\n", name);
  return {std::move(text), 0};
}

}  // namespace oriel::source::cpp
