// The helper functions of sources: memory, halves, and what is done lane by lane.
#include <fmt/format.h>

#include <algorithm>

#include "source/items/spelling.hpp"

namespace oriel::source::items {
namespace {

/// One element of `p`, as a value.
std::string element(DType memory, const std::string& p, const std::string& at) {
  if (memory == DType::float16) return fmt::format("vload_half({}, (const __global half*){})", at, p);
  if (memory == DType::bfloat16) return fmt::format("as_float((uint){}[{}] << 16)", p, at);
  return fmt::format("{}[{}]", p, at);
}

std::string whole(DType memory, int width, const std::string& p, const std::string& at) {
  if (memory == DType::float16) return fmt::format("vload_half{}(0, (const __global half*){} + {})", width, p, at);
  const std::string loaded = fmt::format("vload{}(0, {} + {})", width, p, at);
  if (memory == DType::bfloat16) return fmt::format("as_float{0}(convert_uint{0}({1}) << 16)", width, loaded);
  return loaded;
}

}  // namespace

void Helpers::add(const std::string& name, const std::string& text) {
  if (!has(name)) functions_.emplace_back(name, text);
}
bool Helpers::has(const std::string& name) const {
  return std::any_of(functions_.begin(), functions_.end(), [&](const auto& f) { return f.first == name; });
}

/// `scalar` is an expression of x and y; the function that applies it to every lane is returned.
std::string Helpers::lanewise(const std::string& name, DType from, DType to, int width, int arity,
                              const std::string& scalar) {
  const std::string one = fmt::format("{}_{}", name, short_type(from));
  const std::string in = value_type(from);
  const std::string out = value_type(to);
  add(one, fmt::format("{} {}({} x{}) {{ return {}; }}\n", out, one, in, arity > 1 ? fmt::format(", {} y", in) : "",
                       scalar));
  if (width == 1) return one;
  const std::string all = fmt::format("{}x{}", one, width);
  const std::string in_vector = value_type(from, width);
  std::string text = fmt::format("{0} {1}({2} x{3}) {{\n  {4} a[{5}];\n  vstore{5}(x, 0, a);\n", value_type(to, width),
                                 all, in_vector, arity > 1 ? fmt::format(", {} y", in_vector) : "", in, width);
  if (arity > 1) text += fmt::format("  {0} b[{1}];\n  vstore{1}(y, 0, b);\n", in, width);
  text +=
      fmt::format("  {0} r[{1}];\n  for (int k = 0; k < {1}; ++k) r[k] = {2}(a[k]{3});\n  return vload{1}(0, r);\n}}\n",
                  out, width, one, arity > 1 ? ", b[k]" : "");
  add(all, text);
  return all;
}

/// The function that gives a half's bits; beside it stand NAME_widened, from bits, and NAME_rounded.
std::string Helpers::narrow_half(DType half, int width) {
  const std::string name = fmt::format("{}_bits_x{}", short_type(half), width);
  const std::string v = width == 1 ? "" : std::to_string(width);
  std::string text;
  if (half == DType::float16) {
    const std::string put = width == 1 ? "" : fmt::format("vload{}(0, bits)", width);
    text = fmt::format(
        "ushort{0} {1}(float{0} x) {{\n  ushort bits[{2}];\n  vstore_half{0}_rte(x, 0, (half*)bits);\n  return "
        "{3};\n}}\n"
        "float{0} {1}_widened(ushort{0} x) {{\n  ushort bits[{2}];\n  {4};\n  return vload_half{0}(0, (const "
        "half*)bits);\n}}\n",
        v, name, width, width == 1 ? "bits[0]" : put,
        width == 1 ? "bits[0] = x" : fmt::format("vstore{}(x, 0, bits)", width));
  } else {
    // To nearest, halves to even; a NaN stays one.
    text = fmt::format(
        "ushort{0} {1}(float{0} x) {{\n  const uint{0} bits = as_uint{0}(x);\n"
        "  const uint{0} near = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;\n"
        "  const uint{0} quiet = (bits >> 16) | 0x40u;\n  return convert_ushort{0}({2});\n}}\n"
        "float{0} {1}_widened(ushort{0} x) {{ return as_float{0}(convert_uint{0}(x) << 16); }}\n",
        v, name, width == 1 ? "x != x ? quiet : near" : "select(near, quiet, x != x)");
  }
  text += fmt::format("float{0} {1}_rounded(float{0} x) {{ return {1}_widened({1}(x)); }}\n", v, name);
  add(name, text);
  return name;
}

std::string Helpers::keep(DType dtype, int width, const std::string& value, const std::string& place,
                          const std::string& count) {
  if (width == 1) return fmt::format("*({}) = {}", place, value);
  const std::string name = fmt::format("keep_{}x{}", short_type(dtype), width);
  add(name,
      fmt::format("void {0}({1} x, __local {2}* p, int count) {{\n  if (count >= {3}) {{\n    vstore{3}(x, 0, p);\n    "
                  "return;\n  }}\n  {2} lanes[{3}];\n  vstore{3}(x, 0, lanes);\n  for (int k = 0; k < count; ++k) "
                  "p[k] = lanes[k];\n}}\n",
                  name, value_type(dtype, width), value_type(dtype), width));
  return fmt::format("{}({}, {}, {})", name, value, place, count);
}

std::string Helpers::kept(DType dtype, int width, const std::string& place, const std::string& count) {
  if (width == 1) return fmt::format("*({})", place);
  const std::string name = fmt::format("kept_{}x{}", short_type(dtype), width);
  add(name,
      fmt::format("{1} {0}(const __local {2}* p, int count) {{\n  if (count >= {3}) return vload{3}(0, p);\n  {2} "
                  "lanes[{3}];\n  for (int k = 0; k < {3}; ++k) lanes[k] = k < count ? p[k] : ({2})0;\n  return "
                  "vload{3}(0, lanes);\n}}\n",
                  name, value_type(dtype, width), value_type(dtype), width));
  return fmt::format("{}({}, {})", name, place, count);
}

std::string Helpers::load_one(DType memory, const std::string& buffer, const std::string& at) {
  return element(memory, buffer, at);
}

std::string Helpers::store_one(DType memory, const std::string& buffer, const std::string& at,
                               const std::string& value) {
  if (memory == DType::float16) return fmt::format("vstore_half_rte({}, {}, (__global half*){})", value, at, buffer);
  if (memory == DType::bfloat16) return fmt::format("{}[{}] = {}({})", buffer, at, narrow_half(memory, 1), value);
  return fmt::format("{}[{}] = {}", buffer, at, value);
}

std::string Helpers::load(DType memory, int width, const std::string& buffer, const std::string& at, std::int64_t step,
                          const std::string& step_text, const std::string& first, const std::string& last) {
  const std::string type = value_type(memory, width);
  const std::string scalar = value_type(memory);
  const bool run = step == 1 || width == 1;
  const std::string name = fmt::format("{}_{}x{}", run ? "load" : "gather", short_type(memory), width);
  std::string text = fmt::format(
      "// Lanes [first, last){}; 0 in the others.\n{} {}(__global const {}* p, long at, {}int first, int last) {{\n",
      run ? "" : ", step apart", type, name, memory_type(memory), run ? "" : "long step, ");
  if (width == 1) {
    text += fmt::format("  return first <= 0 && last > 0 ? {} : ({})0;\n}}\n", element(memory, "p", "at"), scalar);
  } else {
    if (run) {
      text += fmt::format("  if (first <= 0 && last >= {}) return {};\n", width, whole(memory, width, "p", "at"));
    } else {
      text += fmt::format(
          "  if (first <= 0 && last >= {1}) {{\n    {0} all[{1}];\n    for (int k = 0; k < {1}; ++k) all[k] = {2};\n"
          "    return vload{1}(0, all);\n  }}\n",
          scalar, width, element(memory, "p", "at + k * step"));
    }
    text += fmt::format(
        "  {0} lanes[{1}];\n  for (int k = 0; k < {1}; ++k) lanes[k] = k >= first && k < last ? {2} : ({0})0;\n"
        "  return vload{1}(0, lanes);\n}}\n",
        scalar, width, element(memory, "p", run ? "at + k" : "at + k * step"));
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
  if (memory == DType::bfloat16) narrow_half(memory, width);
  std::string text = fmt::format("void {}({} x, __global {}* p, long at, {}int first, int last) {{\n", name, type,
                                 memory_type(memory), run ? "" : "long step, ");
  if (width == 1) {
    text += fmt::format("  if (first <= 0 && last > 0) {};\n}}\n", store_one(memory, "p", "at", "x"));
  } else {
    if (run) {
      const std::string all =
          memory == DType::float16    ? fmt::format("vstore_half{}_rte(x, 0, (__global half*)p + at)", width)
          : memory == DType::bfloat16 ? fmt::format("vstore{}({}(x), 0, p + at)", width, narrow_half(memory, width))
                                      : fmt::format("vstore{}(x, 0, p + at)", width);
      text += fmt::format("  if (first <= 0 && last >= {}) {{\n    {};\n    return;\n  }}\n", width, all);
    }
    text += fmt::format(
        "  {0} lanes[{1}];\n  vstore{1}(x, 0, lanes);\n  for (int k = max(first, 0); k < min(last, {1}); "
        "++k) {2};\n}}\n",
        scalar, width, store_one(memory, "p", run ? "at + k" : "at + k * step", "lanes[k]"));
  }
  add(name, text);
  return fmt::format("{}({}, {}, {}, {}{}, {})", name, value, buffer, at, run ? "" : step_text + ", ", first, last);
}

}  // namespace oriel::source::items
