// Measures the errors of functions in units in the last place: float32 functions of one argument on all arguments,
// functions of two arguments and of float64 on samples.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "backend/eigen/isa/table.hpp"

namespace oriel::test {

/// A function of one argument, and the C library's function in double and long double. The table of ops states its
/// error.
struct OneArgument {
  graph::Op op;
  double (*near)(double);
  long double (*exact)(long double);
};

inline const std::vector<OneArgument>& one_argument_functions() {
  using graph::Op;
  static const std::vector<OneArgument> list{
      {Op::Exp, std::exp, std::exp},
      {Op::Exp2, std::exp2, std::exp2},
      {Op::Log, std::log, std::log},
      {Op::Log2, std::log2, std::log2},
      {Op::Sqrt, std::sqrt, std::sqrt},
      {Op::Rsqrt, [](double x) { return 1 / std::sqrt(x); }, [](long double x) { return 1 / std::sqrt(x); }},
      {Op::Sin, std::sin, std::sin},
      {Op::Cos, std::cos, std::cos},
      {Op::Tan, std::tan, std::tan},
      {Op::Tanh, std::tanh, std::tanh},
      {Op::Erf, std::erf, std::erf},
      {Op::Expm1, std::expm1, std::expm1},
      {Op::Log1p, std::log1p, std::log1p},
      {Op::Log10, std::log10, std::log10},
      {Op::Asin, std::asin, std::asin},
      {Op::Acos, std::acos, std::acos},
      {Op::Atan, std::atan, std::atan},
      {Op::Sinh, std::sinh, std::sinh},
      {Op::Cosh, std::cosh, std::cosh},
      {Op::Asinh, std::asinh, std::asinh},
      {Op::Acosh, std::acosh, std::acosh},
      {Op::Atanh, std::atanh, std::atanh},
      {Op::Erfc, std::erfc, std::erfc},
  };
  return list;
}

/// The error that the table states for an op at an instruction-set level; 0.5 if the result is correctly rounded.
inline double stated_error(graph::Op op, DType dtype, std::string_view level) {
  const ops::ErrorBounds& error = graph::row(op).error;
  if (error.float32 == 0) return 0.5;
  const bool avx = level.starts_with("avx");
  if (dtype == DType::float64) return avx && error.avx_float64 != 0 ? error.avx_float64 : error.float64;
  return avx ? error.avx : error.float32;
}

struct FunctionError {
  double ulps = 0;  // infinite if a NaN, an infinity or a sign is wrong
  float at = 0;
};

/// The error of `got` in units in the last place. `exact` is the exact result, `near` the same as T or as a wider type.
template <class T, class Near>
double ulps_from(T got, Near near, long double exact) {
  const T rounded = static_cast<T>(near);
  constexpr double wrong = std::numeric_limits<double>::infinity();
  if (std::isnan(rounded) || std::isnan(got)) return std::isnan(rounded) == std::isnan(got) ? 0 : wrong;
  if (std::isinf(rounded) || std::isinf(got)) return rounded == got ? 0 : wrong;
  if (std::signbit(rounded) != std::signbit(got)) return wrong;
  int exponent = 0;
  if (near != 0) std::frexp(near, &exponent);
  exponent =
      std::max(near == 0 ? std::numeric_limits<T>::min_exponent : exponent, std::numeric_limits<T>::min_exponent);
  return static_cast<double>(
      std::ldexp(std::fabs(static_cast<long double>(got) - exact), std::numeric_limits<T>::digits - exponent));
}

/// The largest error of `f` in each table of functions, on the arguments with bits first, first + stride, ... below
/// `last`.
inline std::vector<FunctionError> largest_errors(const OneArgument& f,
                                                 const std::vector<const backend::isa::Table*>& tables,
                                                 std::uint64_t stride, std::uint64_t first = 0,
                                                 std::uint64_t last = std::uint64_t{1} << 32) {
  constexpr std::size_t n = 1024;
  alignas(64) float x[n];
  alignas(64) float y[n];
  double near[n];
  std::vector<FunctionError> worst(tables.size());
  for (std::uint64_t bits = first; bits < last;) {
    std::size_t count = 0;
    for (; count < n && bits < last; ++count, bits += stride) {
      x[count] = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
      near[count] = f.near(x[count]);
    }
    std::fill(x + count, x + n, 1.0F);
    for (std::size_t t = 0; t < tables.size(); ++t) {
      tables[t]->element[static_cast<int>(f.op)][static_cast<int>(DType::float32)](y, x, nullptr, nullptr, n);
      for (std::size_t i = 0; i < count; ++i) {
        // Long double takes several times as long, so it is used only if this error may be the largest.
        const float rounded = static_cast<float>(near[i]);
        if (worst[t].ulps > 0.51 && std::memcmp(&rounded, &y[i], sizeof rounded) == 0) continue;
        double ulps = ulps_from(y[i], near[i], near[i]);
        if (ulps + 1e-6 <= worst[t].ulps) continue;
        ulps = ulps_from(y[i], near[i], f.exact(x[i]));
        if (ulps > worst[t].ulps) worst[t] = {ulps, x[i]};
      }
    }
  }
  return worst;
}

/// A function of one or two arguments. A function of one argument ignores the second.
struct SampledFunction {
  graph::Op op;
  DType dtype;
  long double (*exact)(long double, long double);
  long double (*exact_of_one)(long double) = nullptr;
};

/// Functions of two arguments of both floats, functions of one argument of float64.
inline std::vector<SampledFunction> sampled_functions() {
  using graph::Op;
  std::vector<SampledFunction> list;
  for (const DType dtype : {DType::float32, DType::float64}) {
    list.push_back({Op::Atan2, dtype, [](long double y, long double x) { return std::atan2(y, x); }});
    list.push_back({Op::Hypot, dtype, [](long double x, long double y) { return std::hypot(x, y); }});
    list.push_back({Op::Pow, dtype, [](long double x, long double y) { return std::pow(x, y); }});
  }
  for (const OneArgument& f : one_argument_functions()) list.push_back({f.op, DType::float64, nullptr, f.exact});
  return list;
}

struct SampledError {
  double ulps = 0;  // infinite if a NaN, an infinity or a sign is wrong
  double x = 0;
  double y = 0;
};

/// Argument pairs for T: every special number with every other, and `count` more with random bits, of ordinary size, of
/// many magnitudes, and chosen so that powers cover the whole range of T.
template <class T>
std::vector<std::pair<T, T>> sampled_arguments(std::size_t count, unsigned seed) {
  using Limits = std::numeric_limits<T>;
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  std::vector<T> special;
  for (const T x : {T(0),
                    T(1),
                    T(2),
                    T(3),
                    T(0.5),
                    T(2.5),
                    T(3.5),
                    T(0.1),
                    T(1e-10),
                    T(0.9999999),
                    T(1.0000001),
                    T(100),
                    T(101),
                    T(127),
                    T(128),
                    T(149),
                    T(150),
                    T(1023),
                    T(1074),
                    T(1075),
                    T(16777215),
                    T(16777216),
                    T(16777217),
                    T(4503599627370495.5),
                    T(4503599627370497),
                    T(9007199254740991),
                    T(9007199254740992),
                    T(0.41421356),
                    T(0.78539816339744828),
                    T(1.5707963267948966),
                    T(1646999),
                    T(1647001),
                    T(1e9),
                    Limits::min(),
                    Limits::denorm_min(),
                    Limits::max(),
                    Limits::infinity(),
                    Limits::quiet_NaN()}) {
    special.push_back(x);
    special.push_back(-x);
  }
  std::vector<std::pair<T, T>> pairs;
  for (const T x : special)
    for (const T y : special) pairs.emplace_back(x, y);
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> unit(-1, 1);
  for (std::size_t i = 0; i < count; ++i) {
    T x{};
    T y{};
    const double u = unit(random);
    const double v = unit(random);
    switch (i % 4) {
      case 0:
        x = std::bit_cast<T>(static_cast<Bits>(random()));
        y = std::bit_cast<T>(static_cast<Bits>(random()));
        break;
      case 1:
        x = static_cast<T>(10 * u);
        y = static_cast<T>(10 * v);
        break;
      case 2:
        x = static_cast<T>(std::exp(20 * u));
        y = static_cast<T>(30 * v);
        break;
      default:
        x = static_cast<T>(std::exp(0.7 * u));
        y = static_cast<T>(v * (sizeof(T) == 4 ? 150 : 1080) / std::log2(static_cast<double>(x)));
        break;
    }
    pairs.emplace_back(x, y);
  }
  return pairs;
}

template <class T>
std::vector<SampledError> largest_sampled_errors_of(const SampledFunction& f,
                                                    const std::vector<const backend::isa::Table*>& tables,
                                                    std::size_t count, unsigned seed) {
  constexpr std::size_t n = 1024;
  alignas(64) T x[n];
  alignas(64) T y[n];
  alignas(64) T got[n];
  std::vector<SampledError> worst(tables.size());
  const std::vector<std::pair<T, T>> pairs = sampled_arguments<T>(count, seed);
  for (std::size_t first = 0; first < pairs.size(); first += n) {
    const std::size_t some = std::min(n, pairs.size() - first);
    std::fill(x, x + n, T(1));
    std::fill(y, y + n, T(1));
    for (std::size_t i = 0; i < some; ++i) std::tie(x[i], y[i]) = pairs[first + i];
    long double exact[n];
    for (std::size_t i = 0; i < some; ++i) exact[i] = f.exact ? f.exact(x[i], y[i]) : f.exact_of_one(x[i]);
    for (std::size_t t = 0; t < tables.size(); ++t) {
      tables[t]->element[static_cast<int>(f.op)][static_cast<int>(f.dtype)](got, x, y, nullptr, n);
      for (std::size_t i = 0; i < some; ++i) {
        const double ulps = ulps_from(got[i], exact[i], exact[i]);
        if (ulps > worst[t].ulps) worst[t] = {ulps, static_cast<double>(x[i]), static_cast<double>(y[i])};
      }
    }
  }
  return worst;
}

/// The largest error of `f` in each table of functions, on the special pairs and on `count` others.
inline std::vector<SampledError> largest_sampled_errors(const SampledFunction& f,
                                                        const std::vector<const backend::isa::Table*>& tables,
                                                        std::size_t count, unsigned seed) {
  return f.dtype == DType::float64 ? largest_sampled_errors_of<double>(f, tables, count, seed)
                                   : largest_sampled_errors_of<float>(f, tables, count, seed);
}

}  // namespace oriel::test
