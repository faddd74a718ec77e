// Derivatives through random draws: by parameters of which the numbers are a function.
#include <doctest/doctest.h>

#include <cmath>
#include <tuple>
#include <vector>

#include "oriel/oriel.hpp"

namespace oriel::testing::grad_random_test {
namespace {

using Numbers = std::vector<double>;

const DType kWide = DType::float64;

template <class F, class... Args>
void check(F f, const Args&... x) {
  const GradientCheck found = check_gradient(f, x...);
  INFO(found.str());
  CHECK(found.ok);
}

TEST_CASE("numbers that are a function of their parameters") {
  const Key key(7);
  const Tensor a = uniform(Key(1), {3, 1}, -1, 1, kWide).realize(), b = uniform(Key(2), {4}, 1, 2, kWide).realize();
  check([&](Tensor x, Tensor y) { return normal(key, {3, 4}, x, y, kWide); }, a, b);
  check([&](Tensor x, Tensor y) { return uniform(key, {3, 4}, x, y, kWide); }, a, b + 1);
  check([&](Tensor x) { return exponential(key, {3, 4}, x, kWide); }, b);
  check([&](Tensor x) { return gamma(key, {3, 4}, 2.5, x, kWide); }, b);
  check([&](Tensor x) { return dropout(key, x * 2, 0.4); }, a);
  check([&](Tensor x) { return square(shuffle(key, x)); }, b);
  // Gumbel numbers of a location.
  check([&](Tensor x) { return x - log(exponential(key, {4}, 1, kWide)); }, b);
  // In the middle, at the ends, and without an end.
  check([&](Tensor x, Tensor y) { return truncated_normal(key, {3, 4}, x, y, kWide); }, a, b + 1);
  check([&](Tensor x) { return truncated_normal(key, {3, 4}, x, INFINITY, kWide); }, a + 4);
  check([&](Tensor x) { return truncated_normal(key, {3, 4}, -INFINITY, x, kWide); }, a);
  check([&](Tensor x, Tensor y) { return truncated_normal(key, {3, 4}, x, y, kWide); }, a + 40, b + 45);
}

TEST_CASE("the derivative of an expectation") {
  // Of the mean of square(x) over normal numbers x of mean m and deviation s, which is m^2 + s^2.
  const auto f = [](Tensor m, Tensor s) { return mean(square(normal(Key(3), {100000}, m, s, kWide))); };
  const auto [by_m, by_s] = grad<0, 1>(f)(full({}, 1.5, kWide), full({}, 0.5, kWide));
  CHECK(by_m.item<double>() == doctest::Approx(3).epsilon(0.01));
  CHECK(by_s.item<double>() == doctest::Approx(1).epsilon(0.02));
}

TEST_CASE("numbers drawn by rejection refuse derivatives by what decides on acceptance") {
  const Tensor a = Tensor::of<double>({1.5, 2});
  const char* const says =
      "grad: the numbers of gamma and beta are drawn by rejection, and no derivative goes through their parameters a "
      "and "
      "b; keep these out by stop_gradient, or draw from normal, uniform or exponential";
  CHECK_THROWS_WITH_AS((void)grad([](Tensor x) { return sum(gamma(Key(1), {2}, x, 1, kWide)); })(a), says,
                       ArgumentError);
  CHECK_THROWS_WITH_AS((void)grad([](Tensor x) { return sum(beta(Key(1), {2}, 2, x, kWide)); })(a), says,
                       ArgumentError);
  CHECK_THROWS_WITH_AS((void)grad([](Tensor x) { return sum(beta(Key(1), {2}, x, 2, kWide)); })(a), says,
                       ArgumentError);
  CHECK(grad([](Tensor x) { return sum(gamma(Key(1), {2}, stop_gradient(x), 1, kWide) * x); })(a).shape() == Shape{2});
  // Other parameters of the same draw.
  CHECK(grad([&](Tensor x) { return sum(gamma(Key(1), {2}, a, x, kWide)); })(a).shape() == Shape{2});
  // Without a derivative nothing changes.
  CHECK(gamma(Key(1), {2}, a, 1, kWide).to_vector<double>()[0] ==
        gamma(Key(1), {2}, Tensor::of<double>({1.5, 9}), 1, kWide).to_vector<double>()[0]);
}

TEST_CASE("integers and decisions give none") {
  const Tensor a = Tensor::of<double>({0.5, 0.25});
  const auto none = [&](auto f) {
    return grad([&](Tensor x) { return sum(f(x).to(kWide) * 3) + sum(x); })(a).template to_vector<double>() ==
           Numbers{1, 1};
  };
  CHECK(none([](Tensor x) { return poisson(Key(1), {2}, x); }));
  CHECK(none([](Tensor x) { return bernoulli(Key(1), {2}, x); }));
  CHECK(none([](Tensor x) { return multinomial(Key(1), x, 2, true); }));
  CHECK(none([](Tensor x) { return multinomial(Key(1), x, 2); }));
  CHECK_THROWS_AS((void)grad([](Tensor x) { return sum(poisson(Key(1), {2}, x)); })(a), DTypeError);
}

}  // namespace
}  // namespace oriel::testing::grad_random_test
