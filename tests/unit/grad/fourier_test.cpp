// Derivatives of Fourier transforms beside central differences.
#include <doctest/doctest.h>

#include <cmath>
#include <tuple>

#include "oriel/oriel.hpp"

namespace oriel::testing::grad_fourier_test {
namespace {

Tensor random(const Shape& shape, std::uint64_t seed = 1) {
  return normal(Key(seed), shape, 0, 1, DType::float64).realize();
}

template <class F, class... Args>
void check(F f, const Args&... x) {
  // Transforms are linear: differences have no error of their own, and large steps have small rounding.
  const GradientCheck found = check_gradient_with({.step = 0.1, .tolerance = 1e-9}, f, x...);
  INFO(found.str());
  CHECK(found.ok);
}
auto parts(const Complex& z) { return std::tuple(z.real(), z.imag()); }

TEST_CASE("windows that are numbers") {
  const Tensor x = uniform(Key(1), {12}, -1, 1, DType::float64).realize();
  const GradientCheck found = check_gradient([](Tensor t) { return square(real(stft(t, 4))); }, x);
  CHECK_MESSAGE(found.ok, found.str());
}

TEST_CASE("transforms of all norms and lengths") {
  for (const FftNorm norm : {FftNorm::backward, FftNorm::ortho, FftNorm::forward}) {
    for (const std::int64_t n : {1, 2, 5, 6, 46}) {
      CAPTURE(n);
      const std::int64_t m = n / 2 + 1;
      const Tensor x = random({2, n}), y = random({2, n}, 2), p = random({2, m}), q = random({2, m}, 2);
      check([=](Tensor a, Tensor b) { return parts(fft(Complex(a, b), {}, -1, norm)); }, x, y);
      check([=](Tensor a, Tensor b) { return parts(ifft(Complex(a, b), {}, -1, norm)); }, x, y);
      check([=](Tensor a) { return parts(fft(a, {}, -1, norm)); }, x);
      check([=](Tensor a) { return parts(ifft(a, {}, -1, norm)); }, x);
      check([=](Tensor a) { return parts(rfft(a, {}, -1, norm)); }, x);
      check([=](Tensor a) { return parts(ihfft(a, {}, -1, norm)); }, x);
      check([=](Tensor a, Tensor b) { return irfft(Complex(a, b), n, -1, norm); }, p, q);
      check([=](Tensor a, Tensor b) { return hfft(Complex(a, b), n, -1, norm); }, p, q);
    }
  }
}

TEST_CASE("other axes, lengths that cut or pad, several axes") {
  const Tensor x = random({3, 4, 2});
  check([](Tensor a) { return parts(fft(a, 6, 1)); }, x);
  check([](Tensor a) { return parts(rfft(a, 3, 1)); }, x);
  check([](Tensor a) { return irfft(a, 5, 0); }, x);
  check([](Tensor a) { return parts(fftn(a)); }, x);
  check([](Tensor a) { return parts(rfftn(a, {4, 3}, {0, 1}, FftNorm::ortho)); }, x);
  check([](Tensor a, Tensor b) { return irfft2(Complex(a, b)); }, x, random({3, 4, 2}, 2));
  check([](Tensor a) { return parts(rfft(a[0][0])); }, x);  // a single row
  check([](Tensor a) { return fftshift(a); }, x);
}

TEST_CASE("what is built on transforms") {
  const Tensor x = random({2, 6});
  for (const int type : {1, 2, 3, 4}) {
    for (const FftNorm norm : {FftNorm::backward, FftNorm::ortho, FftNorm::forward}) {
      CAPTURE(type);
      check([=](Tensor a) { return dct(a, type, {}, -1, norm); }, x);
      check([=](Tensor a) { return idct(a, type, {}, -1, norm); }, x);
    }
  }
  const Tensor window = random({4}, 3) + 2;
  check([&](Tensor a) { return parts(stft(a, 4, window, {.hop = 2})); }, random({2, 11}));
  check([&](Tensor a) { return parts(stft(Complex(a, a * 2), 4, window, {.hop = 2, .normalized = true})); },
        random({2, 11}));
  check([&](Tensor a) { return parts(stft(random({11}), 4, a, {.hop = 2})); }, window);
  check([&](Tensor a, Tensor b) { return istft(Complex(a, b), 4, window, {.hop = 2}); }, random({3, 5}),
        random({3, 5}, 2));
  // No window reaches the first element.
  const Tensor hann = Tensor::of<double>({0, 0.5, 1, 0.5});
  check([&](Tensor a, Tensor b) { return istft(Complex(a, b), 4, hann, {.hop = 2, .center = false}); }, random({3, 5}),
        random({3, 5}, 2));
  const auto by_window = [&](Tensor a) { return istft(Complex(random({3, 5})), 4, a, {.hop = 2, .center = false}); };
  CHECK(check_gradient(by_window, hann + 1).ok);
  check([](Tensor a, Tensor b) { return fftconvolve(a, b); }, random({7}), random({4}, 2));
  check([](Tensor a, Tensor b) { return fftconvolve(a, b, Overlap::same); }, random({5, 4}), random({3, 2}, 2));
}

TEST_CASE("higher orders and forward derivatives") {
  // The gradient of the energy is linear, and a cube's is not.
  const auto cube = [](Tensor a) { return sum(pow(rfft(a).real(), 3) + square(rfft(a).imag())); };
  const GradientCheck second = check_gradient([&](Tensor a) { return grad(cube)(a); }, random({2, 5}));
  INFO(second.str());
  CHECK(second.ok);
  const auto at = vjp([](Tensor a) { return irfft(rfft(a) * Complex(2, 1)); }, random({6}));
  const Tensor t = random({6}, 2), c = random({6}, 3);
  CHECK(sum(at.push(t) * c).item<double>() == doctest::Approx(sum(at.pull(c) * t).item<double>()));
  // Energy is kept.
  const Tensor x = random({6});
  const Tensor g = grad([](Tensor a) {
    return sum(square(fft(a, {}, -1, FftNorm::ortho).real()) + square(fft(a, {}, -1, FftNorm::ortho).imag()));
  })(x);
  CHECK(max(abs(g - x * 2)).item<double>() < 1e-14);
  const Tensor g32 = grad([](Tensor a) { return sum(square(rfft(a).real())); })(x.to(DType::float32));
  CHECK(g32.dtype() == DType::float32);
  const Tensor g64 = grad([](Tensor a) { return sum(square(rfft(a).real())); })(x);
  CHECK(max(abs(g32.to(DType::float64) - g64)).item<double>() < 1e-4);
}

TEST_CASE("captured functions of symbolic lengths") {
  FunctionOptions options;
  options.dynamic = Dynamic::yes;
  const auto gradient = [](Tensor x) {
    return grad([](Tensor y) {
      const Complex z = fft(y, {}, 0);
      return sum(pow(rfft(y).real(), 3)) + sum(square(irfft(y))) + sum(z.real() * z.imag()) + sum(square(dct(y)));
    })(x);
  };
  const auto captured = function(gradient, options);
  for (const auto& [rows, n] : {std::pair{2, 6}, {3, 7}, {5, 8}, {2, 9}}) {
    const Tensor x = random({rows, n});
    CHECK(max(abs(captured(x) - gradient(x))).item<double>() < 1e-9);
  }
}

}  // namespace
}  // namespace oriel::testing::grad_fourier_test
