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

/// A function, the C library's in double and long double, and the error that README.md of the Eigen backend states.
struct OneArgument {
  graph::Op op;
  double (*near)(double);
  long double (*exact)(long double);
  double bound;
};

inline const std::vector<OneArgument>& one_argument_functions() {
  using graph::Op;
  static const std::vector<OneArgument> list{
      {Op::Exp, std::exp, std::exp, 1.3},
      {Op::Exp2, std::exp2, std::exp2, 1.3},
      {Op::Log, std::log, std::log, 1.5},
      {Op::Log2, std::log2, std::log2, 2},
      {Op::Sin, std::sin, std::sin, 1.6},
      {Op::Cos, std::cos, std::cos, 1.6},
      {Op::Tan, std::tan, std::tan, 1.5},
      {Op::Tanh, std::tanh, std::tanh, 1.6},
      {Op::Erf, std::erf, std::erf, 1.5},
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

/// The largest error of `f` on the arguments with bits first, first + stride, ... below 2^32.
inline FunctionError largest_error(const OneArgument& f, const backend::isa::Table& table, std::uint64_t stride,
                                   std::uint64_t first = 0, std::uint64_t last = std::uint64_t{1} << 32) {
  constexpr std::size_t n = 1024;
  alignas(64) float x[n];
  alignas(64) float y[n];
  const backend::isa::ElementFn element = table.element[static_cast<int>(f.op)][static_cast<int>(DType::float32)];
  FunctionError worst;
  for (std::uint64_t bits = first; bits < last;) {
    std::size_t count = 0;
    for (; count < n && bits < last; ++count, bits += stride) {
      x[count] = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    }
    std::fill(x + count, x + n, 1.0F);
    element(y, x, nullptr, nullptr, n);
    for (std::size_t i = 0; i < count; ++i) {
      // Long double takes several times as long: it is asked where the error may be the largest.
      const double near = f.near(x[i]);
      double ulps = ulps_from(y[i], near, near);
      if (ulps + 1e-6 <= worst.ulps) continue;
      ulps = ulps_from(y[i], near, f.exact(x[i]));
      if (ulps > worst.ulps) worst = {ulps, x[i]};
    }
  }
  return worst;
}

}  // namespace oriel::test
