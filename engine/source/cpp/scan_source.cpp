#include "source/cpp/scan_source.hpp"

#include <fmt/format.h>

#include "source/cpp/heading.hpp"
#include "source/cpp/spelling.hpp"
#include "source/cpp/unit.hpp"
#include "source/names.hpp"

namespace oriel::source::cpp {
namespace {

// The order of isa/scan_ops.cpp: runs of elements, and what is before each. A sum of floats keeps its error.
constexpr const char* kCompensated = R"(
/// The sum before a run, and its rounding error. -0 is the sum of nothing.
struct Before {{
  T value = -T(0);
  T rest = -T(0);
  T with(T x) const {{ return value + (rest + x); }}
  void add(T total) {{
    const T part = rest + total, sum = value + part, back = sum - value;
    const T error = (value - (sum - back)) + (part - back);
    value = sum;
    rest = error - error == 0 && error != 0 ? error : -T(0);
  }}
}};
constexpr T kNothing = -T(0);
)";
constexpr const char* kPlain = R"(
/// What is combined before a run.
struct Before {{
  T value = {0};
  T with(T x) const {{ return value {1} x; }}
  void add(T total) {{ value {1}= total; }}
}};
constexpr T kNothing = {0};
)";

}  // namespace

LoopsSource render_scan(const codegen::LoopProgram& program, Keep keep, const SymbolicSizes* symbolic) {
  const codegen::Scanning& s = *program.scanning;
  const DType from = program.arguments[0].dtype, to = program.arguments[1].dtype;
  const std::string name = identifier(program.name);
  const bool sums = s.op == graph::Op::CumSum, floats = is_floating(to);
  Snippets snippets;
  // Integers wrap.
  const std::string type = floats ? value_type(to) : "std::uint64_t";
  std::string element = widened(from, "x[k * inner + i + j]", snippets);
  if (!floats) element = fmt::format("static_cast<T>({})", element);

  std::string text = symbolic != nullptr ? fmt::format("// Kernel {}\n", program.name)
                                         : heading(program, {program.arguments[0].name, program.arguments[1].name});
  text += fmt::format("// The {} of the elements up to each one, along an axis\n", sums ? "sums" : "products");
  for (const std::string& include : includes(snippets, false)) text += include;
  text += fmt::format("\nnamespace kernel_{} {{\n\n", name);
  text += scalar_type();
  text += "namespace {\n\n";
  text += helper_types(std::nullopt, snippets) + snippets.text();
  text += fmt::format("using T = {};\n", type);
  text += sums && floats ? fmt::format(kCompensated) : fmt::format(kPlain, sums ? "0" : "1", sums ? "+" : "*");
  text += "\n}  // namespace\n\n";
  text += entry_head(keep == Keep::Heap ? kLoadedLinkage : "static", name, symbolic != nullptr, keep == Keep::Frame);
  text += "  static_cast<void>(parameters);\n";
  if (keep == Keep::Frame) text += "  static_cast<void>(frame);\n";
  if (symbolic != nullptr) text += "  static_cast<void>(sizes);\n";
  text += fmt::format("  const Int n = {}, inner = {};\n", extent_of(symbolic, 1, s.extent),
                      extent_of(symbolic, 2, s.inner));
  text += fmt::format("  constexpr Int run = {}, columns = 16;\n", ops::kScanRun);
  text += "  for (Int row = first; row < last; ++row) {\n";
  text += fmt::format("    const {0}* const x = static_cast<const {0}*>(arguments[0]) + row * n * inner;\n",
                      dialect().memory_type(from));
  text += R"(    T* const out = static_cast<T*>(arguments[1]) + row * n * inner;
    for (Int i = 0; i < inner; i += columns) {
      const Int width = least(columns, inner - i);
      Before before[columns];
      for (Int k = 0; k < n;) {
        T total[columns];
        for (Int j = 0; j < width; ++j) total[j] = kNothing;
        for (const Int end = least(k + run, n); k < end; ++k) {
          for (Int j = 0; j < width; ++j) {
)";
  text += fmt::format("            total[j] {}= {};\n", sums ? "+" : "*", element);
  text += R"(            out[k * inner + i + j] = before[j].with(total[j]);
          }
        }
        for (Int j = 0; j < width; ++j) before[j].add(total[j]);
      }
    }
  }
}
)";
  text += fmt::format("\n}}  // namespace kernel_{}\n", name);
  return {std::move(text), 0};
}

}  // namespace oriel::source::cpp
