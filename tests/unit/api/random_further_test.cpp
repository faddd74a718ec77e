// Laplace and Gumbel numbers, and positions drawn from logits: moments, limits, frequencies.
#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "oriel/oriel.hpp"
#include "support/refusal.hpp"

namespace oriel::random_further_test {

namespace {

using test::refusal;
constexpr std::int64_t kCount = 200'000;
double number(const Tensor& x) { return double(x); }

}  // namespace

TEST_CASE("moments of Laplace numbers") {
  for (const DType dtype : {DType::float32, DType::float64, DType::float16}) {
    const Tensor x = laplace(Key(3), {kCount}, 1.5, 2, dtype);
    CHECK(x.dtype() == dtype);
    const Tensor wide = x.to(DType::float64);
    CHECK(number(mean(wide)) == doctest::Approx(1.5).epsilon(0.02));
    CHECK(number(var(wide)) == doctest::Approx(8).epsilon(0.03));
    CHECK(number(mean(abs(wide - 1.5))) == doctest::Approx(2).epsilon(0.02));
    CHECK(number(mean(wide > 1.5, DType::float64)) == doctest::Approx(0.5).epsilon(0.02));
  }
  CHECK(equal(laplace(Key(3), {9}), laplace(Key(3), {9})));
  CHECK(laplace(Key(3), {2, 0}).shape() == Shape{2, 0});
  CHECK(bool(all(laplace(Key(1), {4}, 7, 0) == 7)));
  CHECK(refusal([] { static_cast<void>(laplace(Key(1), {2}, 0, -1)); }) ==
        "laplace: scale is -1; give a finite number >= 0");
}

TEST_CASE("moments of Gumbel numbers") {
  constexpr double kEuler = 0.5772156649015329, kVariance = 1.6449340668482264;
  for (const DType dtype : {DType::float32, DType::float64}) {
    const Tensor x = gumbel(Key(5), {kCount}, 0, 1, dtype).to(DType::float64);
    CHECK(number(mean(x)) == doctest::Approx(kEuler).epsilon(0.02));
    CHECK(number(var(x)) == doctest::Approx(kVariance).epsilon(0.03));
    CHECK(bool(all(isfinite(x))));
    // The distribution function exp(-exp(-x)).
    for (const double at : {-1.0, 0.0, 1.0, 3.0})
      CHECK(number(mean(x <= at, DType::float64)) == doctest::Approx(std::exp(-std::exp(-at))).epsilon(0.03));
  }
  CHECK(number(mean(gumbel(Key(5), {kCount}, 4, 0.5))) == doctest::Approx(4 + 0.5 * kEuler).epsilon(0.01));
  CHECK(refusal([] { static_cast<void>(gumbel(Key(1), {2}, INFINITY)); }) ==
        "gumbel: location is inf; give a finite number");
}

TEST_CASE("positions are drawn with the probabilities of their logits") {
  const Tensor logits = log(Tensor::of<float>({1, 2, 0, 5}));  // the third is -inf
  const Tensor drawn = categorical(Key(7), logits.expand({kCount, 4}));
  CHECK((drawn.dtype() == DType::int64 && drawn.shape() == Shape{kCount}));
  const auto counts = bincount(drawn, 4).to_vector<std::int64_t>();
  for (const auto& [position, share] :
       {std::pair(0, 0.125), std::pair(1, 0.25), std::pair(2, 0.0), std::pair(3, 0.625)})
    CHECK(static_cast<double>(counts[static_cast<std::size_t>(position)]) / kCount ==
          doctest::Approx(share).epsilon(0.03));
  CHECK(categorical(Key(7), zeros({3, 5}), 0).shape() == Shape{5});
  CHECK(categorical(Key(7), zeros({0, 5})).shape() == Shape{0});
  CHECK(equal(categorical(Key(7), logits + 100), categorical(Key(7), logits)));
  CHECK(refusal([] { static_cast<void>(categorical(Key(1), zeros({3, 0}))); }).find("categorical: ") == 0);
}

}  // namespace oriel::random_further_test
