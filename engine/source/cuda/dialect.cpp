#include "source/cuda/dialect.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace oriel::source::cuda {
namespace {

// The prelude includes nothing, so that NVRTC needs no headers.
constexpr std::string_view kPrelude = R"src(namespace {

/// N values that are loaded and stored together. Their lanes are computed one by one.
template <class T, int N>
struct alignas(sizeof(T) * N) Lanes {
  T e[N];
  __device__ Lanes() {}
  __device__ explicit Lanes(T x) {
    for (int k = 0; k < N; ++k) e[k] = x;
  }
};
template <int N, class T>
__device__ inline Lanes<T, N> load_lanes(const T* p) {
  Lanes<T, N> x;
  for (int k = 0; k < N; ++k) x.e[k] = p[k];
  return x;
}
template <class T, int N>
__device__ inline void store_lanes(const Lanes<T, N>& x, T* p) {
  for (int k = 0; k < N; ++k) p[k] = x.e[k];
}
template <int N, class T>
__device__ inline Lanes<T, N / 2> half_of(const Lanes<T, N>& x, int first) {
  Lanes<T, N / 2> y;
  for (int k = 0; k < N / 2; ++k) y.e[k] = x.e[first + k];
  return y;
}
/// Every second lane of a, then of b.
template <class T, int N>
__device__ inline Lanes<T, N> parted(const Lanes<T, N>& a, const Lanes<T, N>& b, int odd) {
  Lanes<T, N> y;
  for (int k = 0; k < N / 2; ++k) {
    y.e[k] = a.e[2 * k + odd];
    y.e[N / 2 + k] = b.e[2 * k + odd];
  }
  return y;
}

/// Clamps a position to two bounds, as an int.
__device__ inline int clamped(long long x, int least, int most) {
  return x < least ? least : x > most ? most : static_cast<int>(x);
}
template <class T, class X>
__device__ inline T bits_as(X x) {
  static_assert(sizeof(T) == sizeof(X), "as many bits");
  T y;
  memcpy(&y, &x, sizeof y);
  return y;
}
/// Rounds a float that is not NaN towards 0 and clamps it to [least, most].
template <class T, class X>
__device__ inline T saturated(X x, T least, T most) {
  return x <= static_cast<X>(least) ? least : x >= static_cast<X>(most) ? most : static_cast<T>(x);
}
__device__ inline float widened_half(unsigned short bits) {
  float x;
  asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
  return x;
}
__device__ inline unsigned short narrowed_half(float x) {
  unsigned short bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
  return bits;
}

}  // namespace

)src";

const char* scalar_type(DType dtype) {
  switch (dtype) {
    case DType::bool_:
    case DType::uint8:
      return "unsigned char";
    case DType::int8:
      return "signed char";
    case DType::int16:
      return "short";
    case DType::uint16:
      return "unsigned short";
    case DType::int32:
      return "int";
    case DType::uint32:
      return "unsigned";
    case DType::int64:
      return "long long";
    case DType::uint64:
      return "unsigned long long";
    case DType::float64:
      return "double";
    default:
      return "float";
  }
}

class CudaDialect final : public ItemDialect {
 public:
  std::string value_type(DType dtype, int width) const override {
    return width == 1 ? scalar_type(dtype) : fmt::format("Lanes<{}, {}>", scalar_type(dtype), width);
  }
  std::string memory_type(DType dtype) const override { return is_half(dtype) ? "unsigned short" : scalar_type(dtype); }

  std::string literal(const graph::Scalar& value) const override {
    if (!is_floating(value.dtype)) {
      if (value.dtype == DType::uint64) return fmt::format("{}ULL", static_cast<std::uint64_t>(value.i));
      if (value.i == std::numeric_limits<std::int64_t>::min()) return "(-9223372036854775807LL - 1)";
      return fmt::format("({}){}{}", scalar_type(value.dtype), value.i, value.dtype == DType::int64 ? "LL" : "");
    }
    const bool wide = value.dtype == DType::float64;
    if (std::isnan(value.f)) return wide ? "__longlong_as_double(0x7ff8000000000000LL)" : "__int_as_float(0x7fc00000)";
    if (std::isinf(value.f)) return fmt::format("({}{})", value.f < 0 ? "-" : "", infinity(value.dtype));
    const std::string text = decimal(value);
    return text[0] == '-' ? "(" + text + ")" : text;
  }

  std::string name() const override { return "CUDA"; }
  std::string prelude(bool) const override { return std::string(kPrelude); }
  std::string kernel(const KernelHead& head, const std::string& body) const override {
    std::string arguments;
    for (const std::string& argument : head.arguments) arguments += (arguments.empty() ? "" : ", ") + argument;
    std::string rows;
    std::int64_t at = 0;
    for (const KernelHead::LocalRow& row : head.rows) {
      if (at == 0) rows += "  extern __shared__ double kept_rows[];\n";
      rows += fmt::format("  {0}* const {1} = reinterpret_cast<{0}*>(kept_rows) + {2};\n", value_type(row.dtype, 1),
                          row.name, at / static_cast<std::int64_t>(itemsize(row.dtype)));
      at += (row.bytes + 15) / 16 * 16;
    }
    return fmt::format("extern \"C\" __global__ void __launch_bounds__({}) {}({}) {{\n{}{}}}\n",
                       head.group[0] * head.group[1] * head.group[2], head.name, arguments, rows, body);
  }
  std::string function_prefix() const override { return "__device__ inline "; }
  std::string called_function_prefix() const override { return "__device__ __noinline__ "; }
  std::string restricted() const override { return "__restrict__"; }

  std::string pointer(MemorySpace, const std::string& type, bool constant) const override {
    return (constant ? "const " : "") + type + "*";
  }
  std::string local_array(const std::string& type, const std::string& name, std::int64_t elements) const override {
    return fmt::format("__shared__ {} {}[{}]", type, name, elements);
  }
  std::string position_type(bool wide) const override { return wide ? "long long" : "int"; }

  std::string global_id(int axis) const override {
    return fmt::format("((long long)blockIdx.{0} * blockDim.{0} + threadIdx.{0})", "xyz"[axis]);
  }
  std::string group_id(int axis) const override { return fmt::format("blockIdx.{}", "xyz"[axis]); }
  std::string local_id(int axis) const override { return fmt::format("threadIdx.{}", "xyz"[axis]); }
  std::string barrier(bool) const override { return "__syncthreads();"; }
  std::string increment(const std::string& pointer) const override { return "atomicAdd(" + pointer + ", 1)"; }

  bool has_vector_arithmetic() const override { return false; }
  std::string load_vector(int width, const std::string& pointer) const override {
    return fmt::format("load_lanes<{}>({})", width, pointer);
  }
  std::string store_vector(int, const std::string& value, const std::string& pointer) const override {
    return fmt::format("store_lanes({}, {})", value, pointer);
  }
  std::string lane(const std::string& vector, const std::string& k) const override {
    return fmt::format("{}.e[{}]", vector, k);
  }
  std::string half_of(const std::string& vector, int width, bool second) const override {
    if (width == 2) return lane(vector, second ? "1" : "0");
    return fmt::format("half_of({}, {})", vector, second ? width / 2 : 0);
  }
  std::string parted(DType, int, const std::string& a, const std::string& b, bool odd) const override {
    return fmt::format("parted({}, {}, {})", a, b, odd ? 1 : 0);
  }

  std::string clamped(const std::string& position, int least, int most) const override {
    return fmt::format("clamped({}, {}, {})", position, least, most);
  }
  std::string bits_as(DType to, int, const std::string& value) const override {
    return fmt::format("bits_as<{}>({})", scalar_type(to), value);
  }
  std::string converted(DType to, int, const std::string& value) const override {
    return fmt::format("({})({})", scalar_type(to), value);
  }
  std::string saturated(DType to, int, const std::string& value) const override {
    const int bits = static_cast<int>(8 * itemsize(to));
    const bool none = is_unsigned(to);
    const std::int64_t least = none ? 0 : std::numeric_limits<std::int64_t>::min() >> (64 - bits);
    const std::int64_t most = none && bits == 64 ? -1 : (none ? (std::int64_t{1} << bits) - 1 : ~least);
    return fmt::format("saturated<{}>({}, {}, {})", scalar_type(to), value, literal(graph::Scalar::of_int(to, least)),
                       literal(graph::Scalar::of_int(to, most)));
  }
  std::string magnitude(DType dtype, int, const std::string& value) const override {
    return fmt::format("({0})({1} < 0 ? 0ULL - (unsigned long long){1} : (unsigned long long){1})", scalar_type(dtype),
                       value);
  }
  std::string infinity(DType dtype) const override {
    return dtype == DType::float64 ? "__longlong_as_double(0x7ff0000000000000LL)" : "__int_as_float(0x7f800000)";
  }

  std::string load_half(const std::string& pointer, const std::string& at) const override {
    return fmt::format("widened_half({}[{}])", pointer, at);
  }
  std::string store_half(const std::string& pointer, const std::string& at, const std::string& value) const override {
    return fmt::format("{}[{}] = narrowed_half({})", pointer, at, value);
  }
  std::string half_functions(int, const std::string& name) const override {
    return fmt::format(
        "__device__ inline unsigned short {0}(float x) {{ return narrowed_half(x); }}\n"
        "__device__ inline float {0}_widened(unsigned short x) {{ return widened_half(x); }}\n",
        name);
  }
};

}  // namespace

const ItemDialect& dialect() {
  static const CudaDialect language;
  return language;
}

}  // namespace oriel::source::cuda
