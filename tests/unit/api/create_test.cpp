#include "oriel/create.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "oriel/error.hpp"

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
  CHECK_THROWS_WITH_AS(arange(0, 5, 0), "arange: step is 0; give a step that leads from start to stop", ArgumentError);
  CHECK_THROWS_WITH_AS(arange(0, INFINITY), "arange: stop is inf; give a finite number", ArgumentError);
  CHECK_THROWS_WITH_AS(arange(scalar(3)), "arange: stop is a tensor; give a number", ArgumentError);
  CHECK_THROWS_AS(arange(INT64_MIN, INT64_MAX), OverflowError);
  CHECK_THROWS_AS(arange(0.0, 1e30), OverflowError);
}

TEST_CASE("positions and the identity") {
  CHECK(iota({2, 2}).to_vector<std::int64_t>() == Ints64{0, 1, 2, 3});
  CHECK(eye(2).to_vector<float>() == std::vector<float>{1, 0, 0, 1});
  CHECK(eye(2, 3, 1, DType::int64).to_vector<std::int64_t>() == Ints64{0, 1, 0, 0, 0, 1});
  CHECK(eye(2, 2, -1, DType::int64).to_vector<std::int64_t>() == Ints64{0, 0, 1, 0});
  CHECK(eye(0).numel() == 0);
  CHECK_THROWS_AS(eye(-1), ShapeError);
}
