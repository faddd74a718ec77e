// Interpolation between neighbours that are equal, infinite or as far apart as floats are.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "oriel/oriel.hpp"

namespace neighbours_test {

using namespace oriel;

namespace {

constexpr double kInf = HUGE_VAL;

std::vector<double> doubles(const Tensor& x) { return x.to(DType::float64).to_vector<double>(); }

/// Equal numbers, infinities of one sign, or NaN; finite ones up to the rounding of float32.
void check(const std::vector<double>& got, const std::vector<double>& want) {
  REQUIRE(got.size() == want.size());
  for (std::size_t k = 0; k < got.size(); ++k) {
    INFO("element ", k, " is ", got[k], ", not ", want[k]);
    if (std::isfinite(want[k]))
      CHECK(std::fabs(got[k] - want[k]) <= std::fabs(want[k]) * 0x1p-21);
    else
      CHECK((std::isnan(want[k]) ? std::isnan(got[k]) : got[k] == want[k]));
  }
}

}  // namespace

TEST_CASE("quantiles") {
  const auto of = [](std::vector<double> x, double q, DType dtype = DType::float32) {
    const Tensor row = Tensor::from(x, {static_cast<std::int64_t>(x.size())}).to(dtype);
    const double ignoring = doubles(nanquantile(row, q, 0))[0], both = doubles(quantile(row, q, 0))[0];
    CHECK((ignoring == both || (std::isnan(ignoring) && std::isnan(both))));
    return both;
  };
  CHECK(of({kInf, kInf}, 0.5) == kInf);
  CHECK(of({-kInf, -kInf, 1}, 0.25) == -kInf);
  CHECK(of({1, kInf}, 0.25) == kInf);
  CHECK(of({1, kInf}, 0) == 1);
  CHECK(of({-kInf, 1}, 0.25) == -kInf);
  CHECK(of({-kInf, 1}, 1) == 1);
  CHECK(std::isnan(of({-kInf, kInf}, 0.5)));
  check({of({-3e38, 3e38}, 0.25), of({-3e38, 3e38}, 0.5), of({-3e38, 3e38}, 0.75)}, {-1.5e38, 0, 1.5e38});
  check({of({-1.5e308, 1.5e308}, 0.25, DType::float64)}, {-0.75e308});
  check({of({-6e4, 6e4}, 0.25, DType::float16)}, {-3e4});
  CHECK(doubles(quantile(Tensor::of<float>({HUGE_VALF, HUGE_VALF}), 0.5, 0, false, Between::midpoint))[0] == kInf);
  check(doubles(quantile(Tensor::of<float>({-3e38F, 3e38F}), {0.25, 1}, 0)), {-1.5e38, 3e38});
}

TEST_CASE("lerp") {
  const auto of = [](double a, double b, double t) {
    const auto one = [](double x) { return scalar(x, DType::float32).reshape({1}); };
    return doubles(lerp(one(a), one(b), one(t)))[0];
  };
  for (const double t : {0.0, 0.25, 0.75, 1.0}) {
    CHECK(of(kInf, kInf, t) == kInf);
    check({of(-3e38, 3e38, t)}, {-3e38 + 6e38 * t});
    CHECK(of(kInf, 1, t) == (t == 1 ? 1 : kInf));
    CHECK(of(1, -kInf, t) == (t == 0 ? 1 : -kInf));
    CHECK(std::isnan(of(NAN, 1, t)));
    CHECK(std::isnan(of(1, NAN, t)));
  }
  CHECK(of(1, 3, 2) == 5);
  CHECK(std::isnan(of(1, 3, NAN)));
}

TEST_CASE("interp") {
  const auto of = [](std::vector<double> x, std::vector<double> xp, std::vector<double> fp) {
    const auto line = [](const std::vector<double>& v) {
      return Tensor::from(v, {static_cast<std::int64_t>(v.size())}).to(DType::float32);
    };
    return doubles(interp(line(x), line(xp), line(fp)));
  };
  check(of({0, 0.25, 0.5, 1}, {0, 1}, {kInf, kInf}), {kInf, kInf, kInf, kInf});
  check(of({0, 0.25, 0.5, 1}, {0, 1}, {-3e38, 3e38}), {-3e38, -1.5e38, 0, 3e38});
  check(of({-3e38, -1.5e38, 0, 3e38}, {-3e38, 3e38}, {1, 5}), {1, 2, 3, 5});
  // An infinite point is far from every other; equal heights need no distance.
  check(of({3, 5}, {-kInf, 5}, {1, 2}), {2, 2});
  check(of({-3, 5}, {-3, kInf}, {1, 2}), {1, 1});
  check(of({3}, {-kInf, kInf}, {7, 7}), {7});
  check(of({3}, {-kInf, kInf}, {6, 7}), {NAN});
  check(of({1, 1 + 0x1p-23}, {1, 1 + 0x1p-22}, {0, 3e38}), {0, 1.5e38});
  check(of({0, 0.5}, {0, 1}, {1, NAN}), {1, NAN});
  const auto subnormal = [](double x, double end, double height) {
    return double(interp(scalar(x, DType::float64), Tensor::of<double>({0, end}), Tensor::of<double>({0, height})));
  };
  CHECK(subnormal(5e-324, 1e-323, 3) == 1.5);
  CHECK(subnormal(0x1p-1073, 0x1p-1072, 1e300) == 0.5e300);
}

TEST_CASE("linspace between tensors") {
  const auto of = [](double a, double b) {
    return doubles(linspace(scalar(a, DType::float64), scalar(b, DType::float64), 5, DType::float64));
  };
  check(of(-1.6e308, 1.6e308), {-1.6e308, -0.8e308, 0, 0.8e308, 1.6e308});
  check(of(kInf, kInf), {kInf, kInf, kInf, kInf, kInf});
  check(of(1, 2), {1, 1.25, 1.5, 1.75, 2});
}

TEST_CASE("resampling") {
  const auto of = [](const Tensor& x) { return x.reshape({1, 1, -1}); };
  const Tensor line = of(Tensor::of<float>({1, HUGE_VALF, HUGE_VALF}));
  check(doubles(interpolate(line, {6}, Interpolation::linear)), {1, kInf, kInf, kInf, kInf, kInf});
  check(doubles(interpolate(line, {5}, Interpolation::linear, true)), {1, kInf, kInf, kInf, kInf});
  check(doubles(interpolate(of(Tensor::of<float>({-3e38F, 3e38F})), {4}, Interpolation::linear)),
        {-3e38, -1.5e38, 1.5e38, 3e38});
  // At the positions of elements no neighbour counts.
  const Tensor cubic = interpolate(of(Tensor::of<float>({1, HUGE_VALF, 2})), {5}, Interpolation::cubic, true);
  CHECK(doubles(cubic)[0] == 1);
  CHECK(doubles(cubic)[4] == 2);
  // Between equal elements lies the same number.
  check(doubles(interpolate(of(Tensor::of<float>({HUGE_VALF, HUGE_VALF})), {3}, Interpolation::cubic, true)),
        {kInf, kInf, kInf});
  const double most = std::numeric_limits<double>::max();
  for (const double end : {most, 1.7e308, 1.6e308}) {
    const Tensor large = of(Tensor::of<double>({1.7e308, end, 1.7e308, end}));
    for (const double v : doubles(interpolate(large, {7}, Interpolation::cubic))) CHECK((v > 1.5e308 && v <= kInf));
  }
  check(doubles(interpolate(of(full({4}, most, DType::float64)), {5}, Interpolation::cubic)),
        {most, most, most, most, most});
}

TEST_CASE("grid_sample at points that are no numbers, and beside infinite pixels") {
  const Tensor image = Tensor::of<float>({{1, 2}, {3, HUGE_VALF}}).reshape({1, 1, 2, 2});
  const Tensor grid = Tensor::of<float>({{HUGE_VALF, 0}, {0, -HUGE_VALF}, {NAN, 0}, {-1, -1}, {-1, 1}, {3e38F, 0}})
                          .reshape({1, 1, 6, 2});
  for (const Interpolation mode : {Interpolation::nearest, Interpolation::linear})
    check(doubles(grid_sample(image, grid, mode, true)), {0, 0, 0, 1, 3, 0});
  const Tensor plain = Tensor::of<float>({{1, 2}, {3, 4}}).reshape({1, 1, 2, 2});
  check(doubles(grid_sample(plain, grid, Interpolation::linear, true, true)), {3, 1.5, 2, 1, 3, 3});
}

}  // namespace neighbours_test
