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
  T value = {0}::of<T>();
  T with(T x) const {{ return {1}::of(value, x); }}
  void add(T total) {{ value = {1}::of(value, total); }}
}};
constexpr T kNothing = {0}::of<T>();
)";

}  // namespace

LoopsSource render_scan(const codegen::LoopProgram& program, Keep keep, const SymbolicSizes* symbolic) {
  const codegen::Scanning& s = *program.scanning;
  const DType from = program.arguments[0].dtype, to = program.arguments.back().dtype;
  const std::size_t result = program.arguments.size() - 1;
  const std::string name = identifier(program.name);
  const bool sums = s.op == graph::Op::CumSum, floats = is_floating(to);
  Snippets snippets;
  const bool recurs = s.op == graph::Op::Recurrence, ordered = s.op == graph::Op::CumMax || s.op == graph::Op::CumMin;
  // Integers wrap.
  const std::string type = floats || ordered ? value_type(to) : "std::uint64_t";
  const std::string functor(ops::functor(graph::row(s.op).combination, to));
  const std::string identity = sums                         ? "Zero"
                               : s.op == graph::Op::CumProd ? "One"
                               : s.op == graph::Op::CumMax  ? "Lowest"
                                                            : "Highest";
  if (recurs) {
    snippets.need("recur");
  } else if (!sums || !floats) {
    snippets.need(functor);
    snippets.need(identity);
  }
  std::string element = widened(from, "x[k * inner + i + j]", snippets);
  if (!floats) element = fmt::format("static_cast<T>({})", element);

  std::string text;
  if (symbolic != nullptr) {
    text = fmt::format("// Kernel {}\n", program.name);
  } else {
    std::vector<std::string> names;
    for (const codegen::Argument& a : program.arguments) names.push_back(a.name);
    text = heading(program, names);
  }
  text += recurs ? "// A recurrence along an axis\n"
                 : fmt::format("// The {} of the elements up to each one, along an axis\n",
                               sums                         ? "sums"
                               : s.op == graph::Op::CumProd ? "products"
                               : s.op == graph::Op::CumMax  ? "largest"
                                                            : "smallest");
  for (const std::string& include : includes(snippets, false)) text += include;
  text += fmt::format("\nnamespace kernel_{} {{\n\n", name);
  text += scalar_type();
  text += "namespace {\n\n";
  text += helper_types(std::nullopt, snippets) + snippets.text();
  text += fmt::format("using T = {};\n", type);
  if (!recurs) text += sums && floats ? fmt::format(kCompensated) : fmt::format(kPlain, identity, functor);
  text += "\n}  // namespace\n\n";
  text += entry_head(keep == Keep::Heap ? kLoadedLinkage : "static", name, symbolic != nullptr, keep == Keep::Frame);
  text += "  static_cast<void>(parameters);\n";
  if (keep == Keep::Frame) text += "  static_cast<void>(frame);\n";
  if (symbolic != nullptr) text += "  static_cast<void>(sizes);\n";
  text += fmt::format("  const Int n = {}, inner = {};\n", extent_of(symbolic, result, 1, s.extent),
                      extent_of(symbolic, result, 2, s.inner));
  if (!recurs) text += fmt::format("  constexpr Int run = {}, columns = 16;\n", ops::kScanRun);
  if (recurs) {
    text += R"(  const T* const a = static_cast<const T*>(arguments[0]);
  const T* const b = static_cast<const T*>(arguments[1]);
  T* const y = static_cast<T*>(arguments[2]);
  for (Int row = first; row < last; ++row) {
    const Int at = row * n * inner;
)";
    text += fmt::format("    recur<{}>(y + at, a{}, b + at, n, inner, 0, inner);\n  }}\n}}\n", s.restarts,
                        s.number ? ", 0" : " + at, 1");
    text += fmt::format("\n}}  // namespace kernel_{}\n", name);
    return {std::move(text), 0};
  }
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
  text += sums && floats ? fmt::format("            total[j] += {};\n", element)
                         : fmt::format("            total[j] = {}::of(total[j], T({}));\n", functor, element);
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
