#include "oriel/create.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "oriel/error.hpp"

namespace create_test {

using namespace oriel;
using Ints64 = std::vector<std::int64_t>;

TEST_CASE("filled tensors take their dtype from the kind of number") {
  CHECK(full({2}, 1).dtype() == DType::int64);
  CHECK(full({2}, 1.0).dtype() == DType::float32);
  CHECK(full({2}, true).dtype() == DType::bool_);
  CHECK(full({2}, 3, DType::int8).to_vector<std::int8_t>() == std::vector<std::int8_t>{3, 3});
  CHECK(full({2, 2}, Tensor::of<float>({1, 2})).to_vector<float>() == std::vector<float>{1, 2, 1, 2});
  CHECK(zeros({2}).to_vector<float>() == std::vector<float>{0, 0});
  CHECK(ones({2}, DType::int32).to_vector<std::int32_t>() == std::vector<std::int32_t>{1, 1});
  CHECK(scalar(7).item<std::int64_t>() == 7);
  CHECK(scalar(7, DType::float64).item<double>() == 7);
  CHECK_THROWS_WITH_AS(full({2}, 300, DType::uint8),
                       "full: 300 does not fit uint8; cast the tensor to a wider dtype first", ArgumentError);
  CHECK_THROWS_AS(zeros({-1}), ShapeError);
  CHECK_THROWS_AS(zeros({std::int64_t{1} << 40, std::int64_t{1} << 40}), OverflowError);
}

TEST_CASE("ranges") {
  CHECK(arange(4).to_vector<std::int64_t>() == Ints64{0, 1, 2, 3});
  CHECK(arange(5, 0, -2).to_vector<std::int64_t>() == Ints64{5, 3, 1});
  CHECK(arange(0, 5, 2).to_vector<std::int64_t>() == Ints64{0, 2, 4});
  CHECK(arange(3, 3).numel() == 0);
  CHECK(arange(3, 1).numel() == 0);
  CHECK(arange(0.0, 1.0, 0.25).to_vector<float>() == std::vector<float>{0, 0.25F, 0.5F, 0.75F});
  CHECK(arange(INT64_MIN, INT64_MIN + 3).to_vector<std::int64_t>() == Ints64{INT64_MIN, INT64_MIN + 1, INT64_MIN + 2});
  // Integers of float steps: the first step, rounded, is the step of all, as in NumPy.
  CHECK(arange(0., 5., 1.5, DType::int32).to_vector<std::int32_t>() == std::vector<std::int32_t>{0, 1, 2, 3});
  CHECK(arange(0.5, 5, 1.5, DType::int64).to_vector<std::int64_t>() == Ints64{0, 2, 4});
  CHECK(arange(5., 0., -1.5, DType::int8).to_vector<std::int8_t>() == std::vector<std::int8_t>{5, 3, 1, -1});
  CHECK(arange(0, 1, 0.3, DType::uint8).to_vector<std::uint8_t>() == std::vector<std::uint8_t>{0, 0, 0, 0});
  CHECK_THROWS_WITH_AS(arange(0, 5, 0), "arange: step is 0; give a step that leads from start to stop", ArgumentError);
  CHECK_THROWS_WITH_AS(arange(0, INFINITY), "arange: stop is inf; give a finite number", ArgumentError);
  CHECK_THROWS_WITH_AS(arange(scalar(3)), "arange: stop is a tensor; give a number", ArgumentError);
  CHECK_THROWS_AS(arange(INT64_MIN, INT64_MAX), OverflowError);
  CHECK_THROWS_AS(arange(0.0, 1e30), OverflowError);
}

TEST_CASE("evenly spaced numbers meet both ends") {
  CHECK(linspace(0, 1, 5).to_vector<float>() == std::vector<float>{0, 0.25F, 0.5F, 0.75F, 1});
  CHECK(linspace(3, -3, 3).to_vector<float>() == std::vector<float>{3, 0, -3});
  CHECK(linspace(2.5, 9, 1).to_vector<float>() == std::vector<float>{2.5F});
  CHECK(linspace(1, 2, 0).numel() == 0);
  // Ends that are tensors: the new axis comes first.
  const Tensor ends = linspace(Tensor::of<float>({0, 10}), Tensor::of<float>({{1}, {2}}), 3);
  CHECK(ends.shape() == Shape{3, 2, 2});
  CHECK(ends.to_vector<float>() == std::vector<float>{0, 10, 0, 10, 0.5F, 5.5F, 1, 6, 1, 1, 2, 2});
  CHECK(linspace(scalar(0), 8, 4, DType::int32, Endpoint::excluded).to_vector<std::int32_t>() ==
        std::vector<std::int32_t>{0, 2, 4, 6});
  CHECK(linspace(Tensor::of<float>({1, 2}), 5, 1).to_vector<float>() == std::vector<float>{1, 2});
  CHECK_THROWS_AS(linspace(Tensor::of<float>({1, 2}), 5, -1), ArgumentError);
  CHECK(linspace(0, 10, 4, DType::int32).to_vector<int>() == std::vector<int>{0, 3, 6, 10});
  CHECK(linspace(-10, 0, 4, DType::int64).to_vector<std::int64_t>() == Ints64{-10, -6, -3, 0});
  CHECK(linspace(0, 1, 2, DType::bfloat16).dtype() == DType::bfloat16);
  for (const double stop : {0.1, 1.0 / 3, 1e300, -7.7}) {
    for (const std::int64_t count : {2, 3, 10, 1001}) {
      const std::vector<double> x = linspace(0.7, stop, count, DType::float64).to_vector<double>();
      CHECK(x.front() == 0.7);
      CHECK(x.back() == stop);
      const std::vector<double> back = linspace(stop, 0.7, count, DType::float64).to_vector<double>();
      bool near = true;
      bool mirrored = true;
      for (std::size_t k = 0; k < x.size(); ++k) {
        const double want = 0.7 + (stop - 0.7) * static_cast<double>(k) / static_cast<double>(count - 1);
        near = near && std::fabs(x[k] - want) <= 4 * 0x1p-52 * std::max(0.7, std::fabs(stop));
        // The same values counted from the other end, except the middle one, which is equally far from both ends.
        const bool middle = 2 * k + 1 == x.size();
        mirrored = mirrored && (middle || x[k] == back[x.size() - 1 - k]);
      }
      CHECK(near);
      CHECK(mirrored);
    }
  }
  CHECK_THROWS_WITH_AS(linspace(0, 1, -1), "linspace: count is -1; give a number >= 0", ArgumentError);
  CHECK_THROWS_WITH_AS(linspace(0, INFINITY, 3), "linspace: stop is inf; give a finite number", ArgumentError);
  CHECK_THROWS_AS(linspace(scalar(0), 1, 3, DType::bool_), DTypeError);
  CHECK_THROWS_WITH_AS(linspace(-1e308, 1e308, 3),
                       "linspace: -1e+308 and 1e+308 are further apart than float64 reaches", ArgumentError);
  CHECK_THROWS_WITH_AS(linspace(0, 1, 3, DType::bool_), "linspace: takes integers and floats, not bool", DTypeError);
}

TEST_CASE("positions and the identity") {
  CHECK(iota({2, 2}).to_vector<std::int64_t>() == Ints64{0, 1, 2, 3});
  CHECK(eye(2).to_vector<float>() == std::vector<float>{1, 0, 0, 1});
  CHECK(eye(2, 3, 1, DType::int64).to_vector<std::int64_t>() == Ints64{0, 1, 0, 0, 0, 1});
  CHECK(eye(2, 2, -1, DType::int64).to_vector<std::int64_t>() == Ints64{0, 0, 1, 0});
  CHECK(eye(0).numel() == 0);
  CHECK_THROWS_AS(eye(-1), ShapeError);
}

TEST_CASE("no elements: braces are shapes") {
  const std::vector<float> none;
  CHECK(Tensor::from(none, {0, 3}).shape() == Shape{0, 3});
  CHECK(Tensor::from(none, {0}).shape() == Shape{0});
  CHECK(Tensor::from(std::vector<float>{4}, {}).shape() == Shape{});
}

TEST_CASE("memory that is taken over is given back once, also where there is none") {
  int runs = 0;
  {
    const Tensor x = Tensor::adopt<float>(nullptr, {0}, [&](float* p) { runs += p == nullptr ? 1 : 100; });
  }
  CHECK(runs == 1);
}

}  // namespace create_test
