// Complex tensors beside std::complex.
#pragma once

#include <doctest/doctest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <random>
#include <vector>

#include "oriel/complex.hpp"

namespace oriel::complex_test {

using C = std::complex<float>;
using Z = std::complex<double>;

inline constexpr double kInf = std::numeric_limits<double>::infinity();
inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

inline std::vector<Z> draw(std::size_t n, double spread = 1) {
  std::mt19937_64 engine(n);
  std::normal_distribution<double> normal(0, spread);
  std::vector<Z> out(n);
  for (Z& z : out) z = {normal(engine), normal(engine)};
  return out;
}

inline std::vector<Z> numbers(const Complex& z) { return z.to(ComplexDType::complex128).to_vector<Z>(); }

inline bool same(double a, double b, double error, double scale) {
  if (std::isnan(b)) return std::isnan(a);
  if (std::isinf(b)) return a == b;
  return std::abs(a - b) <= error * scale;
}

/// Is `got` what f gives for each number, to `error` of its length?
template <class F>
void near(const Complex& got, const std::vector<Z>& x, F&& f, double error) {
  const std::vector<Z> y = numbers(got);
  REQUIRE(y.size() == x.size());
  for (std::size_t k = 0; k < x.size(); ++k) {
    const Z want = f(x[k]);
    const double scale = std::isfinite(std::abs(want)) ? std::abs(want) : 1;
    const bool good = same(y[k].real(), want.real(), error, scale) && same(y[k].imag(), want.imag(), error, scale);
    CHECK_MESSAGE(good, "of ", x[k].real(), " ", x[k].imag(), ": ", y[k].real(), " ", y[k].imag(), ", not ",
                  want.real(), " ", want.imag());
  }
}

}  // namespace oriel::complex_test
