// Movements, reads, writes, orders, products and linear algebra of complex numbers.
#include <doctest/doctest.h>

#include <complex>
#include <vector>

#include "oriel/oriel.hpp"
#include "support/refusal.hpp"

namespace oriel::complex_arrays_test {

namespace {

using C = std::complex<float>;
using Numbers = std::vector<C>;

Numbers numbers(const Complex& z) { return z.to_vector<C>(); }
Complex some(const Shape& shape, int seed) {
  const Tensor k = (iota(shape) * 37 + seed * 11) % 23 - 11;
  return Complex(k.to(DType::float32) / 4, ((k * 5) % 7).to(DType::float32) / 3);
}
bool near(const Complex& a, const Complex& b) { return a.shape() == b.shape() && allclose(a, b, 1e-4, 1e-4); }

}  // namespace

TEST_CASE("functions of tensors move, read and write both parts") {
  const Complex z = Complex::of<C>({{1, 2}, {3, 4}, {5, 6}});
  CHECK(numbers(flip(z)) == Numbers{{5, 6}, {3, 4}, {1, 2}});
  CHECK(numbers(reshape(z, {3, 1}).unsqueeze(0).squeeze()) == numbers(z));
  CHECK(broadcast_to(z, {2, 3}).shape() == Shape{2, 3});
  CHECK(numbers(slice(z, {{1, 3}})) == Numbers{{3, 4}, {5, 6}});
  CHECK(numbers(unfold(z, 0, 2, 1).select(0, 1)) == Numbers{{3, 4}, {5, 6}});
  const Tensor index = Tensor::of<int>({2, 0, 2});
  CHECK(numbers(take(z, index)) == Numbers{{5, 6}, {1, 2}, {5, 6}});
  CHECK(numbers(gather(z, index, 0)) == numbers(take(z, index)));
  CHECK(numbers(put(z, Tensor::of<int>({0}), C(7, 8))) == Numbers{{7, 8}, {3, 4}, {5, 6}});
  CHECK(numbers(put_add(z, index, z)) == Numbers{{4, 6}, {3, 4}, {11, 14}});
  CHECK(numbers(scatter(z, Tensor::of<int>({1}), C(0, 1), 0)) == Numbers{{1, 2}, {0, 1}, {5, 6}});
  CHECK(numbers(scatter_add(z, index, z, 0)) == numbers(put_add(z, index, z)));
  const Tensor x = Tensor::of<float>({1, -2});
  CHECK(equal(real(x), x));
  CHECK(equal(conj(x), x));
  CHECK(equal(imag(x), zeros(2)));
}

TEST_CASE("order is that of the real, then of the imaginary parts") {
  const Complex z = Complex::of<C>({{1, 2}, {0, 5}, {1, -1}, {0, 5}});
  CHECK(numbers(sort(z)) == Numbers{{0, 5}, {0, 5}, {1, -1}, {1, 2}});
  CHECK(numbers(unique(z)) == Numbers{{0, 5}, {1, -1}, {1, 2}});
  CHECK(numbers(sort(reshape(z, {2, 2}), 0)) == Numbers{{1, -1}, {0, 5}, {1, 2}, {0, 5}});
  CHECK(sort(Complex()).shape() == Shape{0});
  CHECK(unique(Complex()).shape() == Shape{0});
}

TEST_CASE("products are sums of those of the parts") {
  const Complex a = some({2, 3}, 1), b = some({3, 4}, 2), c = some({4, 2}, 3);
  CHECK(near(einsum("ij,jk->ik", {a, b}), matmul(a, b)));
  CHECK(near(einsum("ij,jk,kl->il", {a, b, c}), matmul(matmul(a, b), c)));
  CHECK(near(einsum("ij->ji", {a}), a.transpose()));
  const Complex x = some({5}, 4), y = some({5}, 5);
  CHECK(near(dot(x, y), sum(x * y)));
  CHECK(near(dot(conj(x), y), vdot(x, y)));
  const Complex signal = some({1, 2, 9}, 6), kernel = some({3, 2, 4}, 7);
  const Complex full = conv1d(signal, kernel, {.padding = {1}});
  const Complex parts(
      conv1d(signal.real(), kernel.real(), {.padding = {1}}) - conv1d(signal.imag(), kernel.imag(), {.padding = {1}}),
      conv1d(signal.real(), kernel.imag(), {.padding = {1}}) + conv1d(signal.imag(), kernel.real(), {.padding = {1}}));
  CHECK(near(full, parts));
  CHECK(near(conv1d(signal, kernel.real()),
             Complex(conv1d(signal.real(), kernel.real()), conv1d(signal.imag(), kernel.real()))));
  CHECK(test::refusal([&] {
          static_cast<void>(einsum("i,i,i,i,i,i,i->", {x, x, x, x, x, x, x}));
        }) == "einsum: 7 complex operands; it takes 1 to 6");
}

TEST_CASE("linear algebra of complex matrices") {
  const Complex a = some({2, 3, 3}, 1) + Complex(eye(3) * 5), b = some({2, 3, 2}, 2), v = some({3}, 3);
  CHECK(near(matmul(a, solve(a, b)), b));
  CHECK(near(matmul(a[0], solve(a[0], v)), v));
  CHECK(near(matmul(a.real(), solve(a.real(), b)), b));
  CHECK(near(matmul(a, solve(a, b.real())), Complex(b.real())));
  CHECK(near(matmul(a, inverse(a)), Complex(eye(3).expand({2, 3, 3}))));
  const Complex h = Complex::from(Numbers{{2, 0}, {9, 9}, {0, -1}, {2, 0}}, {2, 2});  // the upper triangle is not read
  CHECK(allclose(eigvalsh(h), Tensor::of<float>({1, 3})));
  const Complex gram = matmul(conj(a).transpose(), a);
  CHECK(allclose(svdvals(a), sqrt(flip(eigvalsh(gram), -1)), 1e-3));
  CHECK(test::refusal([&] { static_cast<void>(solve(some({2, 3}, 1), v)); }).find("solve: ") == 0);
}

}  // namespace oriel::complex_arrays_test
