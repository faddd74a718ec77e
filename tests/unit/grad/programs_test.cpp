// What the tests of MLX (autograd, vmap and custom_vjp in C++) state, as programs of this library.
#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "oriel/oriel.hpp"

namespace oriel::testing::programs_test {
namespace {

using Numbers = std::vector<double>;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

Tensor number(double x) { return Tensor::of<float>({static_cast<float>(x)}).reshape(Shape{}); }
Tensor counted(const Shape& shape) { return iota(shape).to(DType::float32); }
Numbers elements(const Tensor& x) { return x.to(DType::float64).to_vector<double>(); }
/// The cotangent and the tangent of a function of one tensor.
template <class F>
Tensor pulled(F f, const Tensor& x, const Tensor& cotangent) {
  return vjp(f, x).pull(cotangent);
}
template <class F>
Tensor pushed(F f, const Tensor& x, const Tensor& tangent) {
  return jvp(f, x, tangent).tangent;
}
template <class F>
double slope(F f, double at, double cotangent = 1) {
  return pulled(f, number(at), number(cotangent)).template item<float>();
}
template <class F>
std::pair<double, double> slopes(F f, double a, double b, double cotangent = 1) {
  const auto [first, second] = vjp(f, number(a), number(b)).pull(number(cotangent));
  return {first.template item<float>(), second.template item<float>()};
}

TEST_CASE("stopped gradients") {
  CHECK(stop_gradient(zeros({5, 5}, DType::int32)).dtype() == DType::int32);
  const auto within = [](Tensor x) { return stop_gradient(x + ones({2})); };
  const auto before = [](Tensor x) { return stop_gradient(x) + ones({2}); };
  CHECK(elements(vmap(within)(ones({3, 2}))) == Numbers(6, 2));
  CHECK(elements(vmap(before)(ones({3, 2}))) == Numbers(6, 2));
  const auto all = [](Tensor x) { return stop_gradient(x + x); };
  const auto half = [](Tensor x) { return x + stop_gradient(x); };
  CHECK(slope(all, 1) == 0);
  CHECK(pushed(all, number(1), number(1)).item<float>() == 0);
  CHECK(slope(half, 1) == 1);
  CHECK(pushed(half, number(1), number(1)).item<float>() == 1);
  // What lies behind a stop is not differentiated, so nothing of it is work.
  const auto deep = [](Tensor x) {
    for (int k = 0; k < 10; ++k) x = x + x;
    return stop_gradient(x);
  };
  CHECK(explain(vjp(deep, number(1)).pull(number(1))).nodes <= 1);
}

TEST_CASE("forward derivatives") {
  const auto sum_of = [](Tensor x, Tensor y) { return x + y; };
  const auto both = jvp(sum_of, std::tuple(number(1), number(1)), std::tuple(number(1), number(3)));
  CHECK(both.value.item<float>() == 2);
  CHECK(both.tangent.item<float>() == 4);
  const auto asks = [](Tensor x) {
    const Tensor y = 3 * x;
    y.realize();
    return 2 * y;
  };
  CHECK(pushed(asks, number(1), number(1)).item<float>() == 6);
  const Tensor x = number(1);
  CHECK(pushed([x](Tensor in) { return x + in; }, number(1), number(3)).item<float>() == 3);
  CHECK(pushed([x](Tensor in) { return in + x; }, x, number(1)).item<float>() == 1);
  CHECK_THROWS_AS((void)pushed([](Tensor in) { return in + in; }, number(1), ones({1, 1})), const ShapeError&);
  const Tensor constant = pushed([](Tensor) { return ones({2}); }, number(1), number(1));
  CHECK(elements(constant) == Numbers{0, 0});
}

TEST_CASE("reverse derivatives") {
  const Tensor y = number(1);
  const auto at = vjp([y](Tensor in) { return in + y; }, number(1));
  CHECK(at.value.item<float>() == 2);
  CHECK(at.pull(number(1)).item<float>() == 1);
  CHECK(slope([](Tensor in) { return in + in + in; }, 1) == 3);
  CHECK(slope([](Tensor in) { return in + in + in; }, 1, 2) == 6);
  CHECK(pulled([y](Tensor in) { return in + y; }, y, number(1)).item<float>() == 1);
  CHECK_THROWS_AS((void)pulled([](Tensor in) { return in + in; }, zeros({1}), zeros({2})), const ShapeError&);
  CHECK(elements(pulled([](Tensor) { return number(1); }, zeros({2}), number(1))) == Numbers{0, 0});
  const auto products = [](Tensor a, Tensor b, Tensor c) { return std::tuple(a * b, b * c); };
  const auto [a, b, c] = vjp(products, number(1), number(2), number(3)).pull(std::tuple(number(2), number(3)));
  CHECK(a.item<float>() == 4);
  CHECK(b.item<float>() == 11);
  CHECK(c.item<float>() == 6);
}

TEST_CASE("gradients of any order, and along a branch") {
  const auto next = [](Tensor x) { return x + 1; };
  const auto [y, first] = value_and_grad(next)(number(1));
  CHECK(y.item<float>() == 2);
  CHECK(first.item<float>() == 1);
  const auto [z, second] = value_and_grad(grad(next))(number(1));
  CHECK(z.item<float>() == 1);
  CHECK(second.item<float>() == 0);
  const auto power = [](Tensor x) { return exp(x); };
  CHECK(grad(grad(grad(power)))(number(1)).item<float>() == doctest::Approx(std::exp(1.0F)));
  const auto branch = [](Tensor x) {
    x = x + 2;
    return x.item<float>() > 3 ? square(x) : 4 * x;
  };
  CHECK(grad(branch)(number(0.5)).item<float>() == 4);
  CHECK(grad(branch)(number(1.5)).item<float>() == 7);
  const auto product = [](Tensor a, Tensor b) { return a * b; };
  CHECK(grad<1>(product)(number(2), number(3)).item<float>() == 2);
  CHECK(elements(stack(grad(product, {.arguments = {0, 1}})(number(2), number(3)))) == Numbers{3, 2});
  CHECK_THROWS_AS((void)grad(product, {.arguments = {0, 1, 2}})(number(2), number(3)), const ArgumentError&);
  CHECK_THROWS_AS((void)grad(product, {.arguments = {0, 0}})(number(2), number(3)), const ArgumentError&);
  for (const DType dtype : {DType::float16, DType::bfloat16, DType::float32})
    CHECK(grad([](Tensor x) { return sum(x); })(ones({}, dtype)).dtype() == dtype);
}

TEST_CASE("state that a differentiated function leaves behind") {
  Tensor x = ones({2}), state = zeros({2});
  const auto f = [&](Tensor y) {
    x = y * x;
    state = state + x;
    return sum(x);
  };
  (void)grad(f)(ones({1}));
  CHECK(elements(state) == Numbers{1, 1});
  Tensor kept = number(1);
  const auto keeps = [&](Tensor a, Tensor b) {
    kept = a;
    return sum(b);
  };
  for (int k = 0; k < 5; ++k) CHECK(elements(grad<1>(keeps)(kept, ones({4}))) == Numbers(4, 1));
  CHECK(kept.item<float>() == 1);
}

TEST_CASE("slopes of elementwise functions") {
  CHECK(slope([](Tensor x) { return abs(x); }, -5) == -1);
  CHECK(slope([](Tensor x) { return sign(x); }, -5, 10) == 0);
  CHECK(slope([](Tensor x) { return -x; }, 1, 2) == -2);
  CHECK(slope([](Tensor x) { return square(x); }, 2, 3) == 12);
  CHECK(slope([](Tensor x) { return sqrt(x); }, 4, 8) == 2);
  CHECK(slope([](Tensor x) { return rsqrt(x); }, 4, 8) == -0.5);
  CHECK(slope([](Tensor x) { return atan(x); }, 2) == doctest::Approx(0.2));
  CHECK(slope([](Tensor x) { return log(x); }, 2, 2) == 1);
  CHECK(slope([](Tensor x) { return log1p(x); }, 1, 2) == 1);
  CHECK(slope([](Tensor x) { return erf(x); }, kInfinity) == 0);
  CHECK(slope([](Tensor x) { return erf(x); }, -kInfinity, 2) == 0);
  CHECK(slope([](Tensor x) { return erf(x); }, 0) == doctest::Approx(1.1283791670955126));
  CHECK(slope([](Tensor x) { return erfinv(x); }, 1) == kInfinity);
  CHECK(slope([](Tensor x) { return erfinv(x); }, -1, 2) == kInfinity);
  CHECK(slope([](Tensor x) { return erfinv(x); }, 0) == doctest::Approx(0.8862269254527580));
  CHECK(slope([](Tensor x) { return sigmoid(x); }, 0, 2) == 0.5);
  const auto [a, b] = slopes([](Tensor x, Tensor y) { return atan2(x, y); }, 2, 3);
  CHECK(a == doctest::Approx(3.0 / 13));
  CHECK(b == doctest::Approx(-2.0 / 13));
  CHECK(slopes([](Tensor x, Tensor y) { return x / y; }, 4, 2) == std::pair(0.5, -1.0));
  const auto power = slopes([](Tensor x, Tensor y) { return pow(x, y); }, 4, 3);
  CHECK(power.first == 48);
  CHECK(power.second == doctest::Approx(std::log(4.0) * 64));
  const auto larger = [](Tensor x, Tensor y) { return maximum(x, y); };
  CHECK(slopes(larger, 5, 2, 2) == std::pair(2.0, 0.0));
  CHECK(slopes(larger, 2, 2) == std::pair(0.5, 0.5));  // MLX gives one of them all
  CHECK(slopes([](Tensor x, Tensor y) { return minimum(x, y); }, 4, 2, 2) == std::pair(0.0, 2.0));
}

TEST_CASE("slopes of logaddexp at infinities") {
  const auto f = [](Tensor x, Tensor y) { return logaddexp(x, y); };
  CHECK(slopes(f, 2, 2, 2) == std::pair(1.0, 1.0));
  CHECK(slopes(f, kInfinity, 2) == std::pair(1.0, 0.0));
  CHECK(slopes(f, -kInfinity, 2) == std::pair(0.0, 1.0));
  CHECK(slopes(f, -10, -kInfinity) == std::pair(1.0, 0.0));
}

TEST_CASE("operands that broadcast take sums") {
  const auto shares = [](auto f, const Tensor& a, const Tensor& b, const Tensor& g) {
    const auto [first, second] = vjp(f, a, b).pull(g);
    CHECK(first.shape() == a.shape());
    CHECK(second.shape() == b.shape());
    return std::pair(elements(first), elements(second));
  };
  const Tensor column = full({3, 1}, 2.0F), row = full({1, 2}, 4.0F), g = ones({3, 2});
  CHECK(shares([](Tensor x, Tensor y) { return x + y; }, column, row, g * 2) ==
        std::pair(Numbers(3, 4), Numbers(2, 6)));
  CHECK(shares([](Tensor x, Tensor y) { return x - y; }, column, row, g) == std::pair(Numbers(3, 2), Numbers(2, -3)));
  CHECK(shares([](Tensor x, Tensor y) { return x * y; }, column, row, g) == std::pair(Numbers(3, 8), Numbers(2, 6)));
  CHECK(shares([](Tensor x, Tensor y) { return x / y; }, column * 2, row / 2, g) ==
        std::pair(Numbers(3, 1), Numbers(2, -3)));
  const auto compared = [](Tensor x, Tensor y) { return (x < y).to(DType::float32); };
  CHECK(shares(compared, column, row, g) == std::pair(Numbers(3, 0), Numbers(2, 0)));
  CHECK(elements(pulled(
            [](Tensor a) {
              return broadcast_to(a, {5, 5, 2});
            },
            ones({2}), full({5, 5, 2}, 2.0F))) == Numbers{50, 50});
}

TEST_CASE("slopes of sums, products and extremes along axes") {
  const Tensor cube = ones({2, 2, 2}), g = Tensor::of<float>({1, 2, 3, 4}).reshape({2, 2});
  const auto along = [](std::int64_t axis) { return [axis](Tensor x) { return sum(x, axis); }; };
  CHECK(elements(pulled(along(0), cube, g)) == Numbers{1, 2, 3, 4, 1, 2, 3, 4});
  CHECK(elements(pulled(along(1), cube, g)) == Numbers{1, 2, 1, 2, 3, 4, 3, 4});
  CHECK(elements(pulled(along(2), cube, g)) == Numbers{1, 1, 2, 2, 3, 3, 4, 4});
  CHECK(pulled(along(0), zeros({0}), number(3)).shape() == Shape{0});
  const Tensor six = counted({2, 3}) + 1;
  CHECK(elements(pulled([](Tensor x) { return prod(x, 0); }, six, Tensor::of<float>({1, 2, 3}))) ==
        Numbers{4, 10, 18, 1, 4, 9});
  CHECK(elements(pulled([](Tensor x) { return prod(x); }, six, number(1))) == Numbers{720, 360, 240, 180, 144, 120});
  const Tensor square = Tensor::of<float>({1, 2, 2, -1}).reshape({2, 2}), v = Tensor::of<float>({3, 7});
  CHECK(elements(pulled([](Tensor x) { return min(x, 0); }, square, v)) == Numbers{3, 0, 0, 7});
  CHECK(elements(pulled([](Tensor x) { return max(x, 0); }, square, v)) == Numbers{0, 7, 3, 0});
  const Tensor ties = Tensor::of<float>({1, 0, 0, 1, -1, -1, 1, 0}).reshape({2, 2, 2});
  CHECK(elements(pulled([](Tensor x) { return min(x, {0, 2}); }, ties, v)) == Numbers{0, 0, 3.5, 0, 1.5, 1.5, 0, 3.5});
  CHECK(elements(pulled([](Tensor x) { return max(x, {0, 2}); }, ties, v)) == Numbers{3, 0, 0, 3.5, 0, 0, 3.5, 0});
}

TEST_CASE("slopes of scans, forward and backward, with and without the element itself") {
  const Tensor four = Tensor::of<float>({1, 2, 3, 4});
  const auto scan = [](auto f, bool reverse, bool inclusive, double first) {
    return [=](Tensor x) {
      const std::int64_t n = x.size(0).value();
      Tensor in = reverse ? flip(x, 0) : x;
      Tensor out = f(in);
      if (!inclusive) out = concat({full({1}, first), shrink(out, {{0, n - 1}})});
      return reverse ? flip(out, 0) : out;
    };
  };
  const auto sums = [](const Tensor& x) { return cumsum(x, 0); };
  CHECK(elements(pulled(scan(sums, false, true, 0), ones({4}), ones({4}))) == Numbers{4, 3, 2, 1});
  CHECK(elements(pulled(scan(sums, true, true, 0), ones({4}), ones({4}))) == Numbers{1, 2, 3, 4});
  CHECK(elements(pulled(scan(sums, true, false, 0), ones({4}), ones({4}))) == Numbers{0, 1, 2, 3});
  CHECK(elements(pulled(scan(sums, false, false, 0), ones({4}), ones({4}))) == Numbers{3, 2, 1, 0});
  CHECK(elements(pushed(scan(sums, true, false, 0), four, ones({4}))) == Numbers{3, 2, 1, 0});
  CHECK(elements(pushed(scan(sums, false, false, 0), four, ones({4}))) == Numbers{0, 1, 2, 3});
  const auto products = [](const Tensor& x) { return cumprod(x, 0); };
  CHECK(elements(pulled(scan(products, false, true, 1), four, four)) == Numbers{119, 59, 38, 24});
  CHECK(elements(pulled(scan(products, true, true, 1), four, four)) == Numbers{24, 36, 36, 31});
  CHECK(elements(pulled(scan(products, true, false, 1), four, four)) == Numbers{0, 12, 16, 15});
  CHECK(elements(pulled(scan(products, false, false, 1), four, four)) == Numbers{32, 15, 8, 0});
  const Tensor five = Tensor::of<float>({3, 3, 1, 5, 5});
  const auto most = [](const Tensor& x) { return cummax(x, 0).values; };
  const auto least = [](const Tensor& x) { return cummin(x, 0).values; };
  CHECK(elements(pulled(scan(most, false, true, -kInfinity), five, ones({5}))) == Numbers{1, 2, 0, 1, 1});
  CHECK(elements(pulled(scan(most, true, true, -kInfinity), five, ones({5}))) == Numbers{0, 0, 0, 4, 1});
  CHECK(elements(pulled(scan(most, true, false, -kInfinity), five, ones({5}))) == Numbers{0, 0, 0, 3, 1});
  CHECK(elements(pulled(scan(most, false, false, -kInfinity), five, ones({5}))) == Numbers{1, 2, 0, 1, 0});
  CHECK(elements(pulled(scan(least, false, true, kInfinity), five, ones({5}))) == Numbers{1, 1, 3, 0, 0});
  CHECK(elements(pulled(scan(least, true, true, kInfinity), five, ones({5}))) == Numbers{0, 0, 3, 1, 1});
}

}  // namespace
}  // namespace oriel::testing::programs_test
