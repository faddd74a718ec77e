// The helper functions of sources: memory, halves, and operations done lane by lane.
#include <fmt/format.h>

#include <algorithm>

#include "source/items/spelling.hpp"

namespace oriel::source::items {
/// Loads one element of a buffer as a value.
std::string Helpers::element(DType memory, const std::string& pointer, const std::string& at) const {
  if (memory == DType::float16) return dialect_.load_half(pointer, at);
  if (memory == DType::bfloat16)
    return dialect_.bits_as(value_type(DType::float32),
                            fmt::format("({}){}[{}] << 16", value_type(DType::uint32), pointer, at));
  return fmt::format("{}[{}]", pointer, at);
}

std::string Helpers::as_vectors(DType memory, int width, const std::string& at, bool constant) const {
  return fmt::format(
      "({})({})", dialect_.pointer(MemorySpace::Global, fmt::format("{}{}", memory_type(memory), width), constant), at);
}

std::string Helpers::aligned(DType memory, int width, const std::string& at) const {
  const std::size_t bytes = itemsize(memory) * static_cast<std::size_t>(width);
  if (!asks_alignment_ || !dialect_.vector_arithmetic || bytes > 16) return {};
  return fmt::format("((ulong)({}) & {}) == 0", at, bytes - 1);
}

std::string Helpers::whole(DType memory, int width, const std::string& pointer, const std::string& at) {
  const std::string address = fmt::format("{} + {}", pointer, at), test = aligned(memory, width, address);
  std::string loaded = dialect_.load_vector(width, address);
  if (!test.empty()) loaded = fmt::format("({} ? *{} : {})", test, as_vectors(memory, width, address, true), loaded);
  // Compilers may take a vector of halves to be aligned, so its bits are loaded.
  if (memory == DType::float16) return fmt::format("{}_widened({})", narrow_half(memory, width), loaded);
  if (memory == DType::bfloat16)
    return dialect_.bits_as(value_type(DType::float32, width),
                            dialect_.converted(value_type(DType::uint32, width), loaded) + " << 16");
  return loaded;
}

void Helpers::add(const std::string& name, const std::string& text) {
  if (!has(name)) functions_.emplace_back(name, text);
}
bool Helpers::has(const std::string& name) const {
  return std::any_of(functions_.begin(), functions_.end(), [&](const auto& f) { return f.first == name; });
}

/// Adds a function that applies `scalar`, an expression of x and y, to every lane. Returns its name.
std::string Helpers::lanewise(const std::string& name, DType from, DType to, int width, int arity,
                              const std::string& scalar) {
  std::string one = fmt::format("{}_{}", name, short_type(from));
  const std::string in = value_type(from);
  const std::string out = value_type(to);
  const std::string prefix = dialect_.function_prefix;
  add(one, fmt::format("{}{} {}({} x{}) {{ return {}; }}\n", prefix, out, one, in,
                       arity > 1 ? fmt::format(", {} y", in) : "", scalar));
  if (width == 1) return one;
  std::string all = fmt::format("{}x{}", one, width);
  const std::string in_vector = value_type(from, width);
  std::string text = fmt::format("{6}{0} {1}({2} x{3}) {{\n  {4} a[{5}];\n  {7};\n", value_type(to, width), all,
                                 in_vector, arity > 1 ? fmt::format(", {} y", in_vector) : "", in, width, prefix,
                                 dialect_.store_vector(width, "x", "a"));
  if (arity > 1) text += fmt::format("  {0} b[{1}];\n  {2};\n", in, width, dialect_.store_vector(width, "y", "b"));
  text += fmt::format("  {0} r[{1}];\n  for (int k = 0; k < {1}; ++k) r[k] = {2}(a[k]{3});\n  return {4};\n}}\n", out,
                      width, one, arity > 1 ? ", b[k]" : "", dialect_.load_vector(width, "r"));
  add(all, text);
  return all;
}

/// Adds the function that converts a float to a half's bits, and beside it NAME_widened (from bits) and NAME_rounded.
/// Returns its name.
std::string Helpers::narrow_half(DType half, int width) {
  std::string name = fmt::format("{}_bits_x{}", short_type(half), width);
  const std::string prefix = dialect_.function_prefix;
  const std::string floats = value_type(DType::float32, width);
  std::string text;
  if (half == DType::float16) {
    text = dialect_.half_functions[width > 1 ? 1 : 0](name, width, 2 * width);
  } else {
    const std::string bits = value_type(DType::uint32, width), shorts = value_type(DType::uint16, width);
    // Rounds to nearest even. A NaN stays a NaN.
    text = fmt::format(
        "{5}{3} {1}({0} x) {{\n  const {4} bits = {6};\n"
        "  const {4} near = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;\n"
        "  const {4} quiet = (bits >> 16) | 0x40u;\n  return {2};\n}}\n",
        floats, name,
        dialect_.converted(value_type(DType::uint16, width),
                           width == 1 ? "x != x ? quiet : near" : "select(near, quiet, x != x)"),
        shorts, bits, prefix, dialect_.bits_as(value_type(DType::uint32, width), "x"));
    text += fmt::format("{0}{1} {2}_widened({3} x) {{ return {4}; }}\n", prefix, floats, name, shorts,
                        dialect_.bits_as(value_type(DType::float32, width),
                                         dialect_.converted(value_type(DType::uint32, width), "x") + " << 16"));
  }
  text += fmt::format("{2}{0} {1}_rounded({0} x) {{ return {1}_widened({1}(x)); }}\n", floats, name, prefix);
  add(name, text);
  return name;
}

/// The name of the function that rounds a float to a half.
std::string Helpers::rounded(DType half, int width) {
  std::string name = narrow_half(half, width) + "_rounded";
  if (!calls_roundings_) return name;
  const std::string floats = value_type(DType::float32, width);
  add("called_" + name,
      fmt::format("{0}{1} called_{2}({1} x) {{ return {2}(x); }}\n", dialect_.called_function_prefix, floats, name));
  return "called_" + name;
}

std::string Helpers::keep(DType dtype, int width, const std::string& value, const std::string& place,
                          const std::string& count) {
  if (width == 1) return fmt::format("*({}) = {}", place, value);
  const std::string name = fmt::format("keep_{}x{}", short_type(dtype), width);
  add(name, fmt::format("{4}void {0}({1} x, {5} p, int count) {{\n  if (count >= {3}) {{\n    {6};\n    return;\n  }}\n"
                        "  {2} lanes[{3}];\n  {7};\n  for (int k = 0; k < count; ++k) p[k] = lanes[k];\n}}\n",
                        name, value_type(dtype, width), value_type(dtype), width, dialect_.function_prefix,
                        dialect_.pointer(MemorySpace::Local, value_type(dtype), false),
                        dialect_.store_vector(width, "x", "p"), dialect_.store_vector(width, "x", "lanes")));
  return fmt::format("{}({}, {}, {})", name, value, place, count);
}

std::string Helpers::kept(DType dtype, int width, const std::string& place, const std::string& count) {
  if (width == 1) return fmt::format("*({})", place);
  const std::string name = fmt::format("kept_{}x{}", short_type(dtype), width);
  add(name, fmt::format("{4}{1} {0}({5} p, int count) {{\n  if (count >= {3}) return {6};\n  {2} lanes[{3}];\n"
                        "  for (int k = 0; k < {3}; ++k) lanes[k] = k < count ? p[k] : ({2})0;\n  return {7};\n}}\n",
                        name, value_type(dtype, width), value_type(dtype), width, dialect_.function_prefix,
                        dialect_.pointer(MemorySpace::Local, value_type(dtype), true), dialect_.load_vector(width, "p"),
                        dialect_.load_vector(width, "lanes")));
  return fmt::format("{}({}, {})", name, place, count);
}

std::string Helpers::load_one(DType memory, const std::string& buffer, const std::string& at) {
  return element(memory, buffer, at);
}

std::string Helpers::store_one(DType memory, const std::string& buffer, const std::string& at,
                               const std::string& value) {
  if (memory == DType::float16) return dialect_.store_half(buffer, at, value);
  if (memory == DType::bfloat16) return fmt::format("{}[{}] = {}({})", buffer, at, narrow_half(memory, 1), value);
  return fmt::format("{}[{}] = {}", buffer, at, value);
}

std::string Helpers::load(DType memory, int width, const std::string& buffer, const std::string& at, std::int64_t step,
                          const std::string& step_text, const std::string& first, const std::string& last) {
  const std::string type = value_type(memory, width);
  const std::string scalar = value_type(memory);
  const bool run = step == 1 || width == 1;
  const std::string position = dialect_.position_type(true);
  const std::string name = fmt::format("{}_{}x{}", run ? "load" : "gather", short_type(memory), width);
  std::string text = fmt::format(
      "// Lanes [first, last){}; 0 in the others.\n{}{} {}({} p, {} at, {}int first, int last) {{\n",
      run ? "" : ", step apart", dialect_.function_prefix, type, name,
      dialect_.pointer(MemorySpace::Global, memory_type(memory), true), position, run ? "" : position + " step, ");
  if (width == 1) {
    text += fmt::format("  return first <= 0 && last > 0 ? {} : ({})0;\n}}\n", element(memory, "p", "at"), scalar);
  } else {
    if (run && !(is_half(memory) && !dialect_.vector_arithmetic)) {
      text += fmt::format("  if (first <= 0 && last >= {}) return {};\n", width, whole(memory, width, "p", "at"));
    } else if (!run) {
      text += fmt::format(
          "  if (first <= 0 && last >= {1}) {{\n    {0} all[{1}];\n    for (int k = 0; k < {1}; ++k) all[k] = {2};\n"
          "    return {3};\n  }}\n",
          scalar, width, element(memory, "p", "at + k * step"), dialect_.load_vector(width, "all"));
    }
    text += fmt::format(
        "  {0} lanes[{1}];\n  for (int k = 0; k < {1}; ++k) lanes[k] = k >= first && k < last ? {2} : ({0})0;\n"
        "  return {3};\n}}\n",
        scalar, width, element(memory, "p", run ? "at + k" : "at + k * step"), dialect_.load_vector(width, "lanes"));
  }
  add(name, text);
  return fmt::format("{}({}, {}, {}{}, {})", name, buffer, at, run ? "" : step_text + ", ", first, last);
}

std::string Helpers::store(DType memory, int width, const std::string& buffer, const std::string& at, std::int64_t step,
                           const std::string& step_text, const std::string& first, const std::string& last,
                           const std::string& value) {
  const std::string type = value_type(memory, width);
  const std::string scalar = value_type(memory);
  const bool run = step == 1 || width == 1;
  const std::string name = fmt::format("{}_{}x{}", run ? "store" : "scatter", short_type(memory), width);
  const bool vectors = dialect_.vector_arithmetic;
  if (memory == DType::bfloat16 && !vectors) narrow_half(memory, 1);
  const std::string position = dialect_.position_type(true);
  std::string text = fmt::format("{}void {}({} x, {} p, {} at, {}int first, int last) {{\n", dialect_.function_prefix,
                                 name, type, dialect_.pointer(MemorySpace::Global, memory_type(memory), false),
                                 position, run ? "" : position + " step, ");
  if (width == 1) {
    text += fmt::format("  if (first <= 0 && last > 0) {};\n}}\n", store_one(memory, "p", "at", "x"));
  } else {
    if (run && (vectors || !is_half(memory))) {
      const std::string bits = is_half(memory) ? narrow_half(memory, width) + "(x)" : "x";
      std::string all = dialect_.store_vector(width, bits, "p + at");
      if (const std::string test = aligned(memory, width, "p + at"); !test.empty()) {
        all =
            fmt::format("const {}{} all = {};\n    if ({}) *{} = all; else {}", memory_type(memory), width, bits, test,
                        as_vectors(memory, width, "p + at", false), dialect_.store_vector(width, "all", "p + at"));
      }
      text += fmt::format("  if (first <= 0 && last >= {}) {{\n    {};\n    return;\n  }}\n", width, all);
    }
    text += fmt::format("  {0} lanes[{1}];\n  {3};\n  for (int k = max(first, 0); k < min(last, {1}); ++k) {2};\n}}\n",
                        scalar, width, store_one(memory, "p", run ? "at + k" : "at + k * step", "lanes[k]"),
                        dialect_.store_vector(width, "x", "lanes"));
  }
  add(name, text);
  return fmt::format("{}({}, {}, {}, {}{}, {})", name, value, buffer, at, run ? "" : step_text + ", ", first, last);
}

}  // namespace oriel::source::items
