#include "source/cpp/sort_source.hpp"

#include <fmt/format.h>

#include "source/cpp/heading.hpp"
#include "source/cpp/kernel_sizes.hpp"
#include "source/cpp/spelling.hpp"
#include "source/cpp/unit.hpp"
#include "source/names.hpp"

namespace oriel::source::cpp {
namespace {

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

}  // namespace

LoopsSource render_sort(const codegen::LoopProgram& program, Keep keep, const SymbolicSizes* symbolic) {
  const codegen::Sorting& s = *program.sorting;
  const DType dtype = program.arguments[0].dtype;
  const std::string name = identifier(program.name);
  const std::string what = s.positions ? "Positions in the order" : "The order";
  const std::string way = s.descending ? "descending" : "ascending";
  std::string text;
  if (symbolic != nullptr) {
    text = fmt::format("// Kernel {}\n// {} of rows, {}\n", program.name, what, way);
  } else {
    text = heading(program, {program.arguments[0].name, program.arguments[1].name});
    text += fmt::format("// {} of {} elements, {}\n", what, s.extent, way);
  }
  text += "#include <algorithm>\n#include <cstdint>\n#include <cstring>\n#include <limits>\n\n";
  text += fmt::format("namespace kernel_{} {{\n\n", name);
  text += scalar_type();
  text += "namespace {\n\n";
  text += "using Int = std::int64_t;\n" + key_functions(dtype, s.positions);
  text += "\n}  // namespace\n\n";
  text += entry_head(keep == Keep::Heap ? kLoadedLinkage : "static", name, symbolic != nullptr, keep == Keep::Frame);
  text += "  static_cast<void>(parameters);\n";
  if (keep == Keep::Frame) text += "  static_cast<void>(frame);\n";
  if (symbolic != nullptr) text += "  static_cast<void>(sizes);\n";
  text += fmt::format("  const Int n = {};\n", extent_of(symbolic, 0, 1, s.extent));
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
  text += fmt::format("  }}\n}}\n\n}}  // namespace kernel_{}\n", name);
  return {std::move(text), 0};
}

}  // namespace oriel::source::cpp
