// Functions of complex numbers beside std::complex: powers, logarithms, circular and hyperbolic functions.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <complex>
#include <limits>
#include <vector>

#include "oriel/complex.hpp"
#include "oriel/oriel.hpp"
#include "unit/api/complex_numbers.hpp"

namespace oriel::complex_test {

TEST_CASE("functions have std::complex's values, near the limits and near 1 as well") {
  std::vector<Z> x = draw(300);
  for (const Z& v : draw(100, 1e-3)) {
    x.push_back(1.0 + v);
    x.push_back(std::polar(1.0, v.real() * 1000) * (1 + 1e-7));
  }
  for (const double a : {0.0, -0.0, 1.0, -2.0, 1e-320, 1e-310, 1e155, -1e155, 1.7e308, -1.7e308})
    for (const double b : {0.0, -0.0, 1.0, -3.0, 1e-320, 1e154, 1.7e308, -1.7e308}) x.emplace_back(a, b);
  const Complex z = Complex::from(x);
  near(
      sqrt(z), x, [](Z v) { return std::sqrt(v); }, 2e-15);
  near(
      log(z), x, [](Z v) { return v == 0.0 ? Z(-kInf, std::arg(v)) : std::log(v); }, 1e-14);
  const std::vector<double> lengths = abs(z).to_vector<double>(), angles = angle(z).to_vector<double>();
  for (std::size_t k = 0; k < x.size(); ++k) {
    CHECK(same(lengths[k], std::hypot(x[k].real(), x[k].imag()), 3e-16, lengths[k]));
    CHECK(angles[k] == doctest::Approx(std::arg(x[k])).epsilon(1e-15));
  }
  const std::vector<Z> small(x.begin(), x.begin() + 300);
  near(
      exp(Complex::from(small)), small, [](Z v) { return std::exp(v); }, 1e-15);
  near(
      exp(Complex::from(small).to(ComplexDType::complex64)), small, [](Z v) { return std::exp(v); }, 1e-6);
  near(
      log(Complex::from(small).to(ComplexDType::complex64)), small, [](Z v) { return std::log(v); }, 3e-6);
  near(
      sqrt(Complex::from(small).to(ComplexDType::complex64)), small, [](Z v) { return std::sqrt(v); }, 1e-6);
  near(
      pow(Complex::from(small), Z(0.5, 2)), small, [](Z v) { return std::pow(v, Z(0.5, 2)); }, 1e-13);
  near(
      pow(2.0, Complex::from(small)), small, [](Z v) { return std::pow(2.0, v); }, 1e-14);
  near(
      pow(Complex::from(small), 5), small, [](Z v) { return v * v * v * v * v; }, 1e-15);
  near(
      pow(Complex::from(small), -3), small, [](Z v) { return 1.0 / (v * v * v); }, 1e-14);
  near(
      pow(Complex::from(small), 0.25), small, [](Z v) { return std::pow(v, 0.25); }, 1e-14);
}

TEST_CASE("circular and hyperbolic functions and their inverses have std::complex's values") {
  std::vector<Z> x = draw(300, 2);
  for (const Z& v : draw(100, 1e-5)) {
    x.push_back(v);
    x.push_back(1.0 + v);
    x.push_back(-1.0 + v);
    x.push_back(Z(0, 1) + v);
  }
  for (const Z& v : draw(50, 15)) x.push_back(v);
  // Cuts: the sign of the zero is the side.
  for (const double a : {0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 2.0, -2.0, 1e-200, 30.0, -30.0})
    for (const double b : {0.0, -0.0, 0.5, -1.0, 2.0}) {
      x.emplace_back(a, b);
      x.emplace_back(b, a);
    }
  const Complex z = Complex::from(x);
  near(
      sin(z), x, [](Z v) { return std::sin(v); }, 2e-15);
  near(
      cos(z), x, [](Z v) { return std::cos(v); }, 2e-15);
  near(
      tan(z), x, [](Z v) { return std::tan(v); }, 5e-15);
  near(
      sinh(z), x, [](Z v) { return std::sinh(v); }, 2e-15);
  near(
      cosh(z), x, [](Z v) { return std::cosh(v); }, 2e-15);
  near(
      tanh(z), x, [](Z v) { return std::tanh(v); }, 5e-15);
  near(
      asin(z), x, [](Z v) { return std::asin(v); }, 5e-15);
  near(
      acos(z), x, [](Z v) { return std::acos(v); }, 5e-15);
  near(
      atan(z), x, [](Z v) { return std::atan(v); }, 5e-15);
  near(
      asinh(z), x, [](Z v) { return std::asinh(v); }, 5e-15);
  near(
      acosh(z), x, [](Z v) { return std::acosh(v); }, 5e-15);
  near(
      atanh(z), x, [](Z v) { return std::atanh(v); }, 5e-15);
  const Complex single = Complex::from(draw(300, 2)).to(ComplexDType::complex64);
  const std::vector<Z> rounded = numbers(single);
  near(
      tanh(single), rounded, [](Z v) { return std::tanh(v); }, 3e-6);
  near(
      asin(single), rounded, [](Z v) { return std::asin(v); }, 2e-6);
  near(
      acosh(single), rounded, [](Z v) { return std::acosh(v); }, 2e-6);
  near(
      atanh(single), rounded, [](Z v) { return std::atanh(v); }, 2e-6);
}

TEST_CASE("inverses of large numbers, and of those near a pole") {
  std::vector<Z> x;
  for (const double a : {1e7, -1e9, 1e30, -1e200, 1.0, 0.0})
    for (const double b : {1e7, -1e9, 1e30, 1e200, 1.0}) x.emplace_back(a, b);
  const Complex z = Complex::from(x);
  near(
      asin(z), x, [](Z v) { return std::asin(v); }, 5e-15);
  near(
      acos(z), x, [](Z v) { return std::acos(v); }, 5e-15);
  near(
      atanh(z), x, [](Z v) { return std::atanh(v); }, 5e-15);
  near(
      acosh(z), x, [](Z v) { return std::acosh(v); }, 5e-15);
  CHECK(atanh(Complex::of<Z>({{1, 1e-200}})).item<Z>().real() == doctest::Approx(std::log(2e200) / 2).epsilon(1e-15));
  CHECK(atanh(Complex::of<Z>({1})).item<Z>() == Z(kInf, 0));
  CHECK(atanh(Complex::of<Z>({{1e200, 1e200}})).item<Z>().real() == doctest::Approx(5e-201).epsilon(1e-14));
}

TEST_CASE("functions keep the digits of small numbers, and other bases") {
  const auto one = [](const Complex& z) { return z.item<Z>(); };
  const Complex small = Complex::of<Z>({{1e-12, 2e-12}});
  CHECK(one(expm1(small)).real() == doctest::Approx(1e-12).epsilon(1e-11));
  CHECK(one(expm1(small)).imag() == doctest::Approx(2e-12).epsilon(1e-11));
  CHECK(one(log1p(small)).real() == doctest::Approx(1e-12).epsilon(1e-11));
  CHECK(one(log1p(small)).imag() == doctest::Approx(2e-12).epsilon(1e-11));
  CHECK(std::abs(one(expm1(Complex::of<Z>({{2, 3}}))) - (std::exp(Z(2, 3)) - 1.0)) < 1e-14);
  CHECK(std::abs(one(log1p(Complex::of<Z>({{2, 3}}))) - std::log(Z(3, 3))) < 1e-15);
  CHECK(std::abs(one(log10(Complex::of<Z>({{0, 100}}))) - Z(2, std::acos(-1.0) / 2 / std::log(10.0))) < 1e-15);
  CHECK(std::abs(one(log2(Complex::of<Z>({8}))) - 3.0) < 1e-15);
  CHECK(sign(Complex::of<Z>({{3, -4}, 0, {1e300, 1e300}})).to_vector<Z>()[0] == Z(0.6, -0.8));
  CHECK(one(sign(Complex::of<Z>({0}))) == Z(0));
  CHECK(std::abs(one(sign(Complex::of<Z>({{1.7e308, 1.7e308}}))) - std::polar(1.0, std::acos(-1.0) / 4)) < 1e-15);
  CHECK(round(Complex::of<C>({{2.5F, -1.5F}})).item<C>() == C(2, -2));
}

TEST_CASE("infinities and NaN of circular and hyperbolic functions are C's") {
  const auto one = [](const Complex& z) { return z.item<Z>(); };
  const auto of = [](double re, double im) { return Complex::of<Z>({{re, im}}); };
  const auto is = [](Z a, double re, double im) {
    const auto part = [](double x, double y) {
      return std::isnan(y) ? std::isnan(x) : std::abs(x - y) < 1e-15 || x == y;
    };
    CHECK_MESSAGE(part(a.real(), re), a.real(), " is not ", re);
    CHECK_MESSAGE(part(a.imag(), im), a.imag(), " is not ", im);
  };
  const double pi = std::acos(-1.0);
  is(one(sinh(of(0, kInf))), 0, kNan);
  is(one(sinh(of(kInf, 0))), kInf, 0);
  is(one(sinh(of(kNan, 0))), kNan, 0);
  is(one(cosh(of(kInf, 0))), kInf, 0);
  is(one(cosh(of(kInf, kNan))), kInf, kNan);
  is(one(cosh(of(0, kNan))), kNan, 0);
  is(one(tanh(of(kInf, 2))), 1, 0);
  is(one(tanh(of(-kInf, kInf))), -1, 0);
  is(one(tanh(of(1000, 1))), 1, 0);
  is(one(tanh(of(1000, kInf))), kNan, kNan);
  is(one(asinh(of(kInf, kInf))), kInf, pi / 4);
  is(one(asinh(of(kNan, 0))), kNan, 0);
  is(one(acos(of(-kInf, 1))), pi, -kInf);
  is(one(acos(of(0, kNan))), pi / 2, kNan);
  is(one(acosh(of(-kInf, kInf))), kInf, 3 * pi / 4);
  is(one(atanh(of(kInf, 1))), 0, pi / 2);
  is(one(atanh(of(0, kNan))), 0, kNan);
  is(one(atan(of(1, kInf))), pi / 2, 0);
  is(one(expm1(of(-kInf, kNan))), -1, 0);
  is(one(log1p(of(-1, 0))), -kInf, 0);
}

}  // namespace oriel::complex_test
