// Norms and counts, compared with loops over the elements.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "oriel/oriel.hpp"

namespace norm_test {

using namespace oriel;

namespace {

using Doubles = std::vector<double>;

Doubles values(const Tensor& x) { return x.to(DType::float64).to_vector<double>(); }

long double norm_of(const Doubles& x, double p) {
  long double total = p < 0 && std::isinf(p) ? INFINITY : 0;
  for (const double v : x) {
    const long double size = std::fabs(static_cast<long double>(v));
    if (std::isnan(v) && p != 0) return NAN;
    if (p == 0) {
      total += v != 0;
    } else if (std::isinf(p)) {
      total = p > 0 ? std::max(total, size) : std::min(total, size);
    } else {
      total += std::pow(size, static_cast<long double>(p));
    }
  }
  return p == 0 || std::isinf(p) ? total : std::pow(total, 1 / static_cast<long double>(p));
}

}  // namespace

TEST_CASE("norms of every float dtype, p and axis") {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> number(-4, 4);
  for (const DType dtype : {DType::float16, DType::bfloat16, DType::float32, DType::float64}) {
    const double unit = dtype == DType::float16    ? 0x1p-10
                        : dtype == DType::bfloat16 ? 0x1p-7
                        : dtype == DType::float32  ? 0x1p-23
                                                   : 0x1p-52;
    for (const double p : {2.0, 1.0, 0.0, 3.0, 0.5, 2.5, -1.0, -2.0, HUGE_VAL, -HUGE_VAL}) {
      Doubles elements(5 * 7);
      for (double& v : elements) v = number(random);
      elements[3] = 0;
      elements[8] = -0.0;
      const Tensor x = Tensor::from(elements, {5, 7}).to(dtype);
      const Doubles exact = values(x);
      const Doubles columns = values(norm(x, p, 0, true));
      const Doubles rows = values(norm(x, p, -1));
      CHECK(norm(x, p, 0, true).shape() == Shape{1, 7});
      CHECK(norm(x, p, 1).shape() == Shape{5});
      CHECK(norm(x, p).dtype() == dtype);
      const auto near = [&](double got, const Doubles& part) {
        const auto want = static_cast<double>(norm_of(part, p));
        INFO(name(dtype), " p ", p, " got ", got, " want ", want);
        CHECK(std::fabs(got - want) <= 40 * unit * std::fabs(want));
      };
      near(values(norm(x, p))[0], exact);
      for (std::size_t k = 0; k < 7; ++k) {
        Doubles part;
        for (std::size_t r = 0; r < 5; ++r) part.push_back(exact[r * 7 + k]);
        near(columns[k], part);
      }
      for (std::size_t r = 0; r < 5; ++r) {
        near(rows[r], Doubles(exact.begin() + static_cast<std::ptrdiff_t>(7 * r),
                              exact.begin() + static_cast<std::ptrdiff_t>(7 * r + 7)));
      }
    }
  }
}

TEST_CASE("squares of float32 may leave its range; as float64 they are told, and in one kernel") {
  const Tensor large = Tensor::of<float>({3e30F, 4e30F}), small = Tensor::of<float>({3e-30F, 4e-30F});
  CHECK(norm(large).item<float>() == INFINITY);
  CHECK(norm(small).item<float>() == 0);
  const auto wide = [](const Tensor& x) { return norm(x.to(DType::float64)).to(DType::float32); };
  CHECK(wide(large).item<float>() == doctest::Approx(5e30));
  CHECK(wide(small).item<float>() == doctest::Approx(5e-30));
  CHECK(explain(wide(large)).kernels.size() == 1);
  CHECK(norm(Tensor::of<float>({1.2e19F, 1.3e19F})).item<float>() == doctest::Approx(1.769e19).epsilon(1e-3));
}

TEST_CASE("norms: by hand, NaN, infinities, nothing, and what is refused") {
  CHECK(norm(Tensor::of<float>({3, 4})).item<float>() == 5);
  CHECK(norm(Tensor::of<float>({-3, 4}), 1).item<float>() == 7);
  CHECK(norm(Tensor::of<float>({-3, 0, 4, NAN}), 0).item<float>() == 3);
  for (const double p : {2.0, 1.0, 3.0, -1.0, HUGE_VAL, -HUGE_VAL})
    CHECK(std::isnan(norm(Tensor::of<float>({3, NAN, 1}), p).item<float>()));
  CHECK(norm(Tensor::of<float>({1, -INFINITY})).item<float>() == INFINITY);
  CHECK(norm(zeros({0})).item<float>() == 0);
  CHECK(norm(zeros({0}), 0).item<float>() == 0);
  CHECK(norm(zeros({0}), 3).item<float>() == 0);
  CHECK(norm(zeros({2, 0}), 1, 1).to_vector<float>() == std::vector<float>{0, 0});
  CHECK(norm(zeros({2, 0}), HUGE_VAL, 0).numel() == 0);
  // The squares exceed the range of float16, so they are summed in float32.
  CHECK(norm(full({4}, 1000, DType::float16)).to(DType::float32).item<float>() == 2000);
  CHECK_THROWS_WITH_AS(norm(zeros({2, 0}), HUGE_VAL, 1),
                       "norm: p is inf and axes (1) of (2, 0) hold no element; give a p >= 0 that is finite",
                       ShapeError);
  CHECK_THROWS_AS(norm(zeros({0}), -1), ShapeError);
  CHECK_THROWS_WITH_AS(norm(Tensor::of<int>({3, 4})), "norm: takes floats, not int32; cast it first", DTypeError);
  CHECK_THROWS_AS(norm(zeros({2}, DType::bool_)), DTypeError);
  CHECK_THROWS_WITH_AS(norm(zeros({2}), NAN), "norm: p is nan; give a number, or an infinity", ArgumentError);
  CHECK_THROWS_AS(norm(zeros({2}), 2, 1), ShapeError);
}

TEST_CASE("counts of every dtype") {
  std::mt19937 random(2);
  for (int d = 0; d < kDTypeCount; ++d) {
    const auto dtype = static_cast<DType>(d);
    INFO(name(dtype));
    Doubles elements(6 * 50);
    for (double& v : elements) v = static_cast<double>(random() % 3);
    if (is_floating(dtype)) {
      elements[0] = NAN;
      elements[1] = -0.0;
      elements[2] = -INFINITY;
    }
    const Tensor x = Tensor::from(elements, {6, 50}).to(dtype);
    std::int64_t all = 0;
    std::vector<std::int64_t> rows(6, 0);
    for (std::size_t k = 0; k < elements.size(); ++k) {
      all += elements[k] != 0;
      rows[k / 50] += elements[k] != 0;
    }
    CHECK(count_nonzero(x).item<std::int64_t>() == all);
    CHECK(count_nonzero(x, -1).to_vector<std::int64_t>() == rows);
    CHECK(count_nonzero(x, 1, true).shape() == Shape{6, 1});
    CHECK(count_nonzero(x).dtype() == DType::int64);
  }
  CHECK(count_nonzero(zeros({0, 3}), 0).to_vector<std::int64_t>() == std::vector<std::int64_t>{0, 0, 0});
  CHECK(count_nonzero(scalar(2)).item<std::int64_t>() == 1);
  CHECK_THROWS_AS(count_nonzero(zeros({2}), 1), ShapeError);
}

}  // namespace norm_test
