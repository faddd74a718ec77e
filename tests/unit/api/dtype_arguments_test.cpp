// Sums, means, running sums and ranges in a dtype that the call names; the limits of dtypes; ends of linspace.
#include <doctest/doctest.h>

#include <limits>
#include <vector>

#include "oriel/oriel.hpp"

namespace dtype_arguments_test {

using namespace oriel;

TEST_CASE("sums and products are computed in the dtype that is named") {
  const Tensor x = Tensor::of<float>({16777216, 1, 1, 1});
  CHECK(double(sum(x, DType::float64)) == 16777219.0);
  CHECK(sum(x, DType::float64, 0, true).dtype() == DType::float64);
  CHECK(sum(x, DType::float64, 0, true).shape() == Shape{1});
  const Tensor bytes = Tensor::of<std::uint8_t>({200, 100});
  CHECK(sum(bytes, DType::uint8).item<std::uint8_t>() == 44);
  CHECK(sum(bytes, DType::int32).item<int>() == 300);
  CHECK(sum(bytes, DType::float16).dtype() == DType::float16);
  CHECK(prod(bytes, DType::int16).item<std::int16_t>() == 20000);
  CHECK(sum(Tensor::of<float>({1.9F, 2.9F}), DType::int32).item<int>() == 3);  // elements are converted first
  CHECK(mean(Tensor::of<int>({16777217, 16777217}), DType::float64).item<double>() == 16777217.0);
}

TEST_CASE("running sums and products in a dtype") {
  CHECK(cumsum(Tensor::of<std::uint8_t>({200, 100}), DType::uint8, 0).to_vector<std::uint8_t>() ==
        std::vector<std::uint8_t>{200, 44});
  CHECK(cumsum(Tensor::of<float>({16777216, 1}), DType::float64, 0).to_vector<double>() ==
        std::vector<double>{16777216, 16777217});
  CHECK(cumprod(Tensor::of<int>({3, 5}), DType::float32, 0).to_vector<float>() == std::vector<float>{3, 15});
}

TEST_CASE("what has no dtype of that kind") {
  const Tensor x = ones(3);
  CHECK_THROWS_WITH_AS(sum(x, DType::bool_), doctest::Contains("sum: sums and products are numbers"), DTypeError);
  CHECK_THROWS_WITH_AS(prod(x, DType::bool_), doctest::Contains("prod: "), DTypeError);
  CHECK_THROWS_WITH_AS(mean(x, DType::int32), doctest::Contains("mean: a mean is no int32; give a float"), DTypeError);
  CHECK_THROWS_WITH_AS(cumsum(x, DType::bool_, 0), doctest::Contains("cumsum: running sums"), DTypeError);
  CHECK_THROWS_WITH_AS(cumprod(x, DType::bool_, 0), doctest::Contains("cumprod: running sums"), DTypeError);
}

TEST_CASE("ranges in a dtype") {
  CHECK(arange(3, DType::float32).to_vector<float>() == std::vector<float>{0, 1, 2});
  CHECK(arange(1, 0, -0.25, DType::float64).to_vector<double>() == std::vector<double>{1, 0.75, 0.5, 0.25});
  CHECK(double(arange(0, 0.3, 0.1, DType::float64)[2]) == 0.2);  // not rounded to float32 on the way
  CHECK(arange(2, 5, 2, DType::uint8).to_vector<std::uint8_t>() == std::vector<std::uint8_t>{2, 4});
  CHECK_THROWS_AS(arange(0, 1, 0, DType::float32), ArgumentError);
}

TEST_CASE("linspace without its end") {
  CHECK(linspace(0, 1, 4, DType::float32, Endpoint::excluded).to_vector<float>() ==
        std::vector<float>{0, 0.25F, 0.5F, 0.75F});
  CHECK(linspace(0, 1, 3, DType::float32, Endpoint::included).to_vector<float>() == std::vector<float>{0, 0.5F, 1});
  CHECK(linspace(5, 1, 1, DType::float64, Endpoint::excluded).to_vector<double>() == std::vector<double>{5});
  CHECK(linspace(5, 1, 0, DType::float64, Endpoint::excluded).count() == 0);
  CHECK_THROWS_WITH_AS(linspace(0, 1, -1, DType::float32, Endpoint::excluded), doctest::Contains("count is -1"),
                       ArgumentError);
}

TEST_CASE("roll of all elements crosses rows") {
  CHECK(roll(iota({2, 3}), 1).to_vector<std::int64_t>() == std::vector<std::int64_t>{5, 0, 1, 2, 3, 4});
  CHECK(roll(iota({2, 3}), -7).shape() == Shape{2, 3});
  CHECK(roll(iota({2, 3}), -7).to_vector<std::int64_t>() == std::vector<std::int64_t>{1, 2, 3, 4, 5, 0});
  CHECK(roll(scalar(4), 3).item<std::int64_t>() == 4);
}

TEST_CASE("the limits of dtypes") {
  CHECK(finfo(DType::float32).eps == std::numeric_limits<float>::epsilon());
  CHECK(finfo(DType::float32).max == static_cast<double>(std::numeric_limits<float>::max()));
  CHECK(finfo(DType::float64).tiny == std::numeric_limits<double>::min());
  CHECK(finfo(DType::float16).max == 65504);
  CHECK(finfo(DType::float16).digits == 11);
  CHECK(finfo(DType::float16).smallest_subnormal == 0x1p-24);
  CHECK(finfo(DType::bfloat16).bits == 16);
  CHECK(finfo(DType::bfloat16).eps == 0x1p-7);
  CHECK(iinfo(DType::int8).min == -128);
  CHECK(iinfo(DType::int8).max == 127);
  CHECK(iinfo(DType::int64).min == std::numeric_limits<std::int64_t>::min());
  CHECK(iinfo(DType::uint64).max == std::numeric_limits<std::uint64_t>::max());
  CHECK(iinfo(DType::uint16).bits == 16);
  CHECK_THROWS_WITH_AS(finfo(DType::int8), doctest::Contains("finfo: int8 is no float"), DTypeError);
  CHECK_THROWS_WITH_AS(iinfo(DType::bool_), doctest::Contains("iinfo: bool is no integer"), DTypeError);
}

}  // namespace dtype_arguments_test
