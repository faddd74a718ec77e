#include "source/cpp/alone_source.hpp"

#include <fmt/format.h>

#include "source/cpp/kernel_sizes.hpp"
#include "source/cpp/spelling.hpp"
#include "source/cpp/unit.hpp"
#include "source/names.hpp"

namespace oriel::source::cpp {
namespace {

using codegen::LoopProgram;

/// The parts in which the sources of such kernels differ.
struct AloneText {
  std::string comment;   // lines under the heading
  std::string includes;  // lines
  std::string helpers;   // types and functions
  std::string body;      // the statements of the kernel's function
};

/// The extent of axis d of an argument as text. `number`: if all sizes are numbers.
std::string extent_of(const LoopProgram& program, const SymbolicSizes* symbolic, std::size_t argument, std::size_t d,
                      std::int64_t number) {
  if (symbolic == nullptr) return std::to_string(number);
  return size_text(program.accesses[argument].axis(d).extent, symbolic->table);
}

std::string includes_of(const Snippets& snippets) {
  std::string text;
  for (const std::string& include : includes(snippets, false)) text += include;
  return text;
}

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

AloneText scan_text(const LoopProgram& program, const SymbolicSizes* symbolic) {
  const codegen::Scanning& s = *program.scanning;
  const DType from = program.arguments[0].dtype, to = program.arguments.back().dtype;
  const std::size_t result = program.arguments.size() - 1;
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

  AloneText out;
  out.comment = recurs ? "// A recurrence along an axis\n"
                       : fmt::format("// The {} of the elements up to each one, along an axis\n",
                                     sums                         ? "sums"
                                     : s.op == graph::Op::CumProd ? "products"
                                     : s.op == graph::Op::CumMax  ? "largest"
                                                                  : "smallest");
  out.includes = includes_of(snippets);
  out.helpers = helper_types(std::nullopt, snippets) + snippets.text() + fmt::format("using T = {};\n", type);
  if (!recurs) out.helpers += sums && floats ? fmt::format(kCompensated) : fmt::format(kPlain, identity, functor);
  std::string& text = out.body;
  text += fmt::format("  const Int n = {}, inner = {};\n", extent_of(program, symbolic, result, 1, s.extent),
                      extent_of(program, symbolic, result, 2, s.inner));
  if (!recurs) text += fmt::format("  constexpr Int run = {}, columns = 16;\n", ops::kScanRun);
  if (recurs) {
    text += R"(  const T* const a = static_cast<const T*>(arguments[0]);
  const T* const b = static_cast<const T*>(arguments[1]);
  T* const y = static_cast<T*>(arguments[2]);
  for (Int row = first; row < last; ++row) {
    const Int at = row * n * inner;
)";
    text += fmt::format("    recur<{}>(y + at, a{}, b + at, n, inner, 0, inner);\n  }}\n", s.restarts,
                        s.number ? ", 0" : " + at, 1");
    return out;
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
)";
  return out;
}

AloneText scatter_text(const LoopProgram& program, const SymbolicSizes* symbolic) {
  const codegen::Scattering& s = *program.scattering;
  const DType dtype = program.arguments.back().dtype;
  const std::string type = memory_type(dtype);
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

  AloneText out;
  out.comment = "// Combines elements into the entries that positions name\n";
  out.includes = includes_of(snippets);
  out.helpers = helper_types(std::nullopt, snippets) + snippets.text();
  std::string& text = out.body;
  const std::size_t result = program.arguments.size() - 1;
  text += fmt::format(
      "  const Int keys = {}, extent = {}, inner = {};\n", extent_of(program, symbolic, 0, s.each ? 1 : 0, s.keys),
      extent_of(program, symbolic, result, 1, s.extent), extent_of(program, symbolic, result, 2, s.inner));
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
  text += "  }\n";
  return out;
}

// The bits of infinity; 0 for dtypes that are not floats.
std::string_view infinity_of(DType dtype) {
  switch (dtype) {
    case DType::float16:
      return "0x7c00";
    case DType::bfloat16:
      return "0x7f80";
    case DType::float32:
      return "0x7f800000";
    case DType::float64:
      return "0x7ff0000000000000";
    default:
      return "0";
  }
}

// Converts values to keys and back, as isa/sort_ops.cpp does.
std::string key_functions(DType dtype, bool positions) {
  const int bits = static_cast<int>(8 * itemsize(dtype));
  std::string text =
      fmt::format("using Key = std::int{}_t;\n{}", bits,
                  is_floating(dtype) ? "constexpr Key kMost = std::numeric_limits<Key>::max();\n\n" : "\n");
  if (is_floating(dtype)) {
    text += fmt::format(
        "// The bits of a float as an integer in its order, and back; a NaN is the largest.\n"
        "Key mirrored(Key bits) {{ return static_cast<Key>(bits ^ (static_cast<Key>(bits >> {}) & kMost)); }}\n"
        "Key key_of(Key bits) {{ return static_cast<Key>(bits & kMost) > {} ? kMost : {}; }}\n"
        "[[maybe_unused]] Key bits_of(Key key) {{ return mirrored(key); }}\n",
        bits - 1, infinity_of(dtype), positions ? "mirrored(bits) == -1 ? Key{0} : mirrored(bits)" : "mirrored(bits)");
  } else if (is_unsigned(dtype)) {
    text +=
        "Key key_of(Key bits) { return static_cast<Key>(bits ^ std::numeric_limits<Key>::min()); }\n"
        "[[maybe_unused]] Key bits_of(Key key) { return key_of(key); }\n";
  } else {
    text += "Key key_of(Key bits) { return bits; }\n[[maybe_unused]] Key bits_of(Key key) { return key; }\n";
  }
  return text;
}

/// std::sort over the keys of each row, which are made in the result's memory; it keeps nothing.
AloneText sort_text(const LoopProgram& program, const SymbolicSizes* symbolic) {
  const codegen::Sorting& s = *program.sorting;
  const DType dtype = program.arguments[0].dtype;
  const std::string what = s.positions ? "Positions in the order" : "The order";
  const std::string way = s.descending ? "descending" : "ascending";
  AloneText out;
  out.comment = symbolic != nullptr ? fmt::format("// {} of rows, {}\n", what, way)
                                    : fmt::format("// {} of {} elements, {}\n", what, s.extent, way);
  out.includes = "#include <algorithm>\n#include <cstdint>\n#include <cstring>\n#include <limits>\n";
  out.helpers = "using Int = std::int64_t;\n" + key_functions(dtype, s.positions);
  std::string& text = out.body;
  text += fmt::format("  const Int n = {};\n", extent_of(program, symbolic, 0, 1, s.extent));
  text += "  for (Int row = first; row < last; ++row) {\n";
  text += "    const Key* const x = static_cast<const Key*>(arguments[0]) + row * n;\n";
  if (s.positions) {
    text += fmt::format(
        "    Int* const out = static_cast<Int*>(arguments[1]) + row * n;\n"
        "    for (Int i = 0; i < n; ++i) out[i] = i;\n"
        "    std::sort(out, out + n, [x](Int a, Int b) {{\n"
        "      const Key left = key_of(x[a]);\n"
        "      const Key right = key_of(x[b]);\n"
        "      return left == right ? a < b : left {} right;\n"
        "    }});\n",
        s.descending ? ">" : "<");
  } else {
    text += fmt::format(
        "    Key* const out = static_cast<Key*>(arguments[1]) + row * n;\n"
        "    for (Int i = 0; i < n; ++i) out[i] = key_of(x[i]);\n"
        "    std::sort(out, out + n{});\n"
        "    for (Int i = 0; i < n; ++i) out[i] = bits_of(out[i]);\n",
        s.descending ? ", [](Key a, Key b) { return a > b; }" : "");
  }
  text += "  }\n";
  return out;
}

}  // namespace

LoopsSource render_alone(const LoopProgram& program, Keep keep, const SymbolicSizes* symbolic) {
  const AloneText parts = program.sorting    ? sort_text(program, symbolic)
                          : program.scanning ? scan_text(program, symbolic)
                                             : scatter_text(program, symbolic);
  std::vector<std::string> buffers;
  for (const codegen::Argument& a : program.arguments) buffers.push_back(a.name);
  const std::string name = identifier(program.name);
  std::string text = symbolic != nullptr ? fmt::format("// Kernel {}\n", program.name) : heading(program, buffers);
  text += parts.comment + parts.includes + fmt::format("\nnamespace kernel_{} {{\n\n", name);
  text += scalar_type();
  text += "namespace {\n\n" + parts.helpers + "\n}  // namespace\n\n";
  text += entry_head(keep == Keep::Heap ? kLoadedLinkage : "static", name, symbolic != nullptr, keep == Keep::Frame);
  text += "  static_cast<void>(parameters);\n";
  if (keep == Keep::Frame) text += "  static_cast<void>(frame);\n";
  if (symbolic != nullptr) text += "  static_cast<void>(sizes);\n";
  return {text + parts.body + fmt::format("}}\n\n}}  // namespace kernel_{}\n", name), 0};
}

}  // namespace oriel::source::cpp
