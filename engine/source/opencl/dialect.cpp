#include "source/opencl/dialect.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace oriel::source::opencl {
namespace {

const char* scalar_type(DType dtype) {
  switch (dtype) {
    case DType::bool_:
    case DType::uint8:
      return "uchar";
    case DType::int8:
      return "char";
    case DType::int16:
      return "short";
    case DType::uint16:
      return "ushort";
    case DType::int32:
      return "int";
    case DType::uint32:
      return "uint";
    case DType::int64:
      return "long";
    case DType::uint64:
      return "ulong";
    case DType::float64:
      return "double";
    default:
      return "float";
  }
}

class OpenClDialect final : public ItemDialect {
 public:
  std::string value_type(DType dtype, int width) const override {
    return width == 1 ? scalar_type(dtype) : fmt::format("{}{}", scalar_type(dtype), width);
  }
  std::string memory_type(DType dtype) const override { return is_half(dtype) ? "ushort" : scalar_type(dtype); }

  std::string literal(const graph::Scalar& value) const override {
    if (!is_floating(value.dtype)) {
      if (value.dtype == DType::uint64) return fmt::format("{}UL", static_cast<std::uint64_t>(value.i));
      if (value.i == std::numeric_limits<std::int64_t>::min()) return "(-9223372036854775807L - 1)";
      return fmt::format("({}){}{}", scalar_type(value.dtype), value.i, value.dtype == DType::int64 ? "L" : "");
    }
    const bool wide = value.dtype == DType::float64;
    if (std::isnan(value.f)) return wide ? "(double)NAN" : "NAN";
    if (std::isinf(value.f)) return fmt::format("({}{})", value.f < 0 ? "-" : "", infinity(value.dtype));
    const std::string text = decimal(value);
    return text[0] == '-' ? "(" + text + ")" : text;
  }

  std::string name() const override { return "OpenCL"; }
  std::string prelude(bool fp64) const override {
    return std::string(fp64 ? "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n" : "") +
           "#pragma OPENCL FP_CONTRACT OFF\n\n";
  }

  std::string kernel(const KernelHead& head, const std::string& body) const override {
    std::string arguments;
    const auto add = [&](const std::string& argument) { arguments += (arguments.empty() ? "" : ", ") + argument; };
    for (const std::string& argument : head.arguments) add(argument);
    for (const KernelHead::LocalRow& row : head.rows)
      add(pointer(MemorySpace::Local, value_type(row.dtype, 1), false) + " " + row.name);
    return fmt::format("__kernel __attribute__((reqd_work_group_size({}, {}, {})))\nvoid {}({}) {{\n{}}}\n",
                       head.group[0], head.group[1], head.group[2], head.name, arguments, body);
  }
  std::string function_prefix() const override { return {}; }
  std::string called_function_prefix() const override { return "__attribute__((noinline)) "; }
  std::string restricted() const override { return "restrict"; }

  std::string pointer(MemorySpace space, const std::string& type, bool constant) const override {
    if (space == MemorySpace::Local) return fmt::format("{}__local {}*", constant ? "const " : "", type);
    return fmt::format("{}{}{}*", space == MemorySpace::Global ? "__global " : "", constant ? "const " : "", type);
  }
  std::string local_array(const std::string& type, const std::string& name, std::int64_t elements) const override {
    return fmt::format("__local {} {}[{}]", type, name, elements);
  }
  std::string position_type(bool wide) const override { return wide ? "long" : "int"; }

  std::string global_id(int axis) const override { return fmt::format("get_global_id({})", axis); }
  std::string group_id(int axis) const override { return fmt::format("get_group_id({})", axis); }
  std::string local_id(int axis) const override { return fmt::format("get_local_id({})", axis); }
  std::string barrier(bool global) const override {
    return global ? "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);" : "barrier(CLK_LOCAL_MEM_FENCE);";
  }
  std::string increment(const std::string& pointer) const override { return "atomic_inc(" + pointer + ")"; }

  bool has_vector_arithmetic() const override { return true; }
  std::string load_vector(int width, const std::string& pointer) const override {
    return fmt::format("vload{}(0, {})", width, pointer);
  }
  std::string store_vector(int width, const std::string& value, const std::string& pointer) const override {
    return fmt::format("vstore{}({}, 0, {})", width, value, pointer);
  }
  std::string lane(const std::string& vector, const std::string& k) const override {
    return fmt::format("{}.s{}", vector, k);
  }
  std::string half_of(const std::string& vector, int width, bool second) const override {
    return vector + (width == 2 ? (second ? ".s1" : ".s0") : (second ? ".hi" : ".lo"));
  }
  std::string parted(DType dtype, int width, const std::string& a, const std::string& b, bool odd) const override {
    const char* lanes = width == 2 ? (odd ? "y" : "x") : odd ? "odd" : "even";
    return fmt::format("({0})({1}.{3}, {2}.{3})", value_type(dtype, width), a, b, lanes);
  }

  std::string clamped(const std::string& position, int least, int most) const override {
    return fmt::format("(int)clamp((long)({}), {}L, {}L)", position, least, most);
  }
  std::string bits_as(DType to, int width, const std::string& value) const override {
    return fmt::format("as_{}({})", value_type(to, width), value);
  }
  std::string converted(DType to, int width, const std::string& value) const override {
    return fmt::format("convert_{}({})", value_type(to, width), value);
  }
  std::string saturated(DType to, int width, const std::string& value) const override {
    return fmt::format("convert_{}_sat({})", value_type(to, width), value);
  }
  std::string magnitude(DType dtype, int width, const std::string& value) const override {
    return fmt::format("as_{}(abs({}))", value_type(dtype, width), value);
  }
  std::string infinity(DType dtype) const override { return dtype == DType::float64 ? "(double)INFINITY" : "INFINITY"; }

  // What PoCL 3.1 gets wrong.
  FunctionFault fault(graph::Op op, DType dtype, const std::string& type) const override {
    using graph::Op;
    switch (op) {
      case Op::Sin:  // float32: subnormal lanes beside an infinite one
      case Op::Cos:
      case Op::Tan:
        return {.vectors_where = fmt::format("!(fabs(x) <= ({})(10000))", type)};
      case Op::Tanh:  // gives the number before 1 for all large ones
        if (dtype == DType::float64) return {};
        return {.where = fmt::format("fabs(x) > ({})(9.011f)", type),
                .value = fmt::format("copysign(({})(1), x)", type)};
      case Op::Log1p:  // gives 0 for the subnormal number before 0
        return {.where = fmt::format("fabs(x) < ({})(1e-30f)", type), .value = "x"};
      case Op::Fmod:  // float64: lanes beside 0/0
        return {.in_vectors = true};
      case Op::Pow:  // infinities in some lanes (for example 0.141471 to the power 2.45513)
        return {.in_vectors = dtype == DType::float64};
      default:
        return {};
    }
  }

  std::string load_half(const std::string& pointer, const std::string& at) const override {
    return fmt::format("vload_half({}, (const __global half*){})", at, pointer);
  }
  std::string store_half(const std::string& pointer, const std::string& at, const std::string& value) const override {
    return fmt::format("vstore_half_rte({}, {}, (__global half*){})", value, at, pointer);
  }
  std::string half_functions(int width, const std::string& name) const override {
    const std::string v = width == 1 ? "" : std::to_string(width);
    const std::string put = width == 1 ? "" : fmt::format("vload{}(0, bits)", width);
    return fmt::format(
        "ushort{0} {1}(float{0} x) {{\n  ushort bits[{2}] __attribute__((aligned({5})));\n"
        "  vstore_half{0}_rte(x, 0, (half*)bits);\n  return {3};\n}}\n"
        "float{0} {1}_widened(ushort{0} x) {{\n  ushort bits[{2}] __attribute__((aligned({5})));\n"
        "  {4};\n  return vload_half{0}(0, (const half*)bits);\n}}\n",
        v, name, width, width == 1 ? "bits[0]" : put,
        width == 1 ? "bits[0] = x" : fmt::format("vstore{}(x, 0, bits)", width), 2 * width);
  }
};

}  // namespace

const ItemDialect& dialect() {
  static const OpenClDialect language;
  return language;
}

}  // namespace oriel::source::opencl
