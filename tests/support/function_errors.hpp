// How far the float32 functions of one argument are from the exact result, in units of the last place.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "backend/eigen/isa/table.hpp"

namespace oriel::test {

/// A function, the C library's in double and long double, and the error that README.md of the Eigen backend states;
/// that of AVX2 and AVX-512 where these do better.
struct OneArgument {
  graph::Op op;
  double (*near)(double);
  long double (*exact)(long double);
  double bound;
  double wide_bound = bound;
};

inline const std::vector<OneArgument>& one_argument_functions() {
  using graph::Op;
  static const std::vector<OneArgument> list{
      {Op::Exp, std::exp, std::exp, 1.3, 0.95},
      {Op::Exp2, std::exp2, std::exp2, 1.3, 0.95},
      {Op::Log, std::log, std::log, 1.5},
      {Op::Log2, std::log2, std::log2, 2},
      {Op::Sin, std::sin, std::sin, 1.6},
      {Op::Cos, std::cos, std::cos, 1.6},
      {Op::Tan, std::tan, std::tan, 1.5},
      {Op::Tanh, std::tanh, std::tanh, 1.6, 1.1},
      {Op::Erf, std::erf, std::erf, 1.63, 1.02},
      {Op::Sqrt, std::sqrt, std::sqrt, 0.5},
      {Op::Rsqrt, [](double x) { return 1 / std::sqrt(x); }, [](long double x) { return 1 / std::sqrt(x); }, 1.5},
  };
  return list;
}

struct FunctionError {
  double ulps = 0;  // infinite where a NaN, an infinity or a sign is wrong
  float at = 0;
};

/// Units of the last place between `got` and the exact result, which `near` is the nearest double of (or almost).
inline double ulps_from(float got, double near, long double exact) {
  const float rounded = static_cast<float>(near);
  constexpr double wrong = std::numeric_limits<double>::infinity();
  if (std::isnan(rounded) || std::isnan(got)) return std::isnan(rounded) == std::isnan(got) ? 0 : wrong;
  if (std::isinf(rounded) || std::isinf(got)) return rounded == got ? 0 : wrong;
  if (std::signbit(rounded) != std::signbit(got)) return wrong;
  int exponent = 0;
  std::frexp(near, &exponent);
  exponent = std::max(exponent, std::numeric_limits<float>::min_exponent);
  return static_cast<double>(std::fabs(got - exact)) * std::ldexp(1.0, std::numeric_limits<float>::digits - exponent);
}

/// The largest error of each table's `f` on the arguments with bits first, first + stride, ... below `last`.
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
        // Long double takes several times as long: it is asked where the error may be the largest.
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

}  // namespace oriel::test
