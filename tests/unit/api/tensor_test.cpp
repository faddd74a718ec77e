// Tensors as values: made from data, read back, and all errors on the way.
#include "oriel/tensor.hpp"

#include <doctest/doctest.h>

#include <numeric>

#include "oriel/create.hpp"
#include "oriel/error.hpp"
#include "oriel/ops.hpp"

namespace tensor_test {

using namespace oriel;

TEST_CASE("from vectors, spans and lists") {
  const Tensor a = Tensor::of<float>({{1, 2}, {3, 4}});
  CHECK(a.shape() == Shape{2, 2});
  CHECK(a.dtype() == DType::float32);
  CHECK(a.rank() == 2);
  CHECK(a.numel() == 4);
  CHECK(a.size(-1) == 2);
  CHECK(a.to_vector<float>() == std::vector<float>{1, 2, 3, 4});
  CHECK(a.str() == "float32 (2, 2) on " + default_device().str());
  CHECK(Tensor::from(std::vector<bool>{true, false}).to_vector<bool>() == std::vector<bool>{true, false});
  CHECK(Tensor::from(std::vector<double>{1, 2, 3, 4}, {4, 1}).shape() == Shape{4, 1});
  const std::int16_t raw[] = {5, 6};
  CHECK(Tensor::from(std::span<const std::int16_t>(raw), {2}).to_vector<std::int16_t>() ==
        std::vector<std::int16_t>{5, 6});
  CHECK(Tensor::generate({2, 2}, [](auto i) { return static_cast<int>(10 * i[0] + i[1]); }).to_vector<int>() ==
        std::vector<int>{0, 1, 10, 11});
  CHECK(Tensor::of<float>({}).numel() == 0);
  CHECK(Tensor().shape() == Shape{0});
}

TEST_CASE("a borrow reads the caller's memory, and a deleter runs once, at the end") {
  float data[] = {1, 2, 3, 4, 5, 6};
  CHECK((Tensor::borrow(data, {2, 3}) + 1).to_vector<float>() == std::vector<float>{2, 3, 4, 5, 6, 7});
  const std::vector<float> kept{1, 2};
  CHECK(Tensor::borrow(kept, {2}).to_vector<float>() == kept);
  // Strides: the columns of a matrix of three rows, of which each has a gap.
  const float columns[] = {1, 2, 3, -1, 4, 5, 6, -1};
  const Tensor strided = Tensor::borrow(columns, Layout{{3, 2}, {1, 4}});
  CHECK(strided.to_vector<float>() == std::vector<float>{1, 4, 2, 5, 3, 6});
  CHECK(Tensor::borrow(columns, Layout{{0, 2}, {1, 4}}).shape() == Shape{0, 2});
  CHECK_THROWS_AS(Tensor::borrow(columns, Layout{{2}, {-1}}), ShapeError);
  int freed = 0;
  {
    Tensor x = Tensor::adopt(data, {6}, [&](float* p) { freed += p == data ? 1 : 100; });
    const Tensor y = x * 2;
    x = Tensor();
    if (default_device() == Device::eigen()) CHECK(freed == 0);  // other devices may have copied it at once
    CHECK(y.to_vector<float>()[5] == 12);
    CHECK(freed == 1);
  }
  CHECK(freed == 1);
  CHECK_THROWS_AS(Tensor::adopt(data, {-1}, [&](float*) { ++freed; }), ShapeError);
  CHECK(freed == 2);
  // An exception from a deleter is dropped, because nobody could catch it.
  const auto throws = [&](float*) {
    ++freed;
    throw std::runtime_error("a deleter's");
  };
  CHECK((Tensor::adopt(data, {6}, throws) + 1).to_vector<float>()[5] == 7);
  CHECK_THROWS_AS(Tensor::adopt(data, {-1}, throws), ShapeError);
  CHECK(freed == 4);
}

TEST_CASE("results never lie in the caller's memory") {
  // Aligned, so that a device that shares the host's memory uses it in place.
  alignas(4096) float data[1024] = {1, 2, 3};
  const std::vector<float> before(data, data + 1024);
  for (const bool adopted : {false, true}) {
    int freed = 0;
    Tensor x = adopted ? Tensor::adopt(data, {1024}, [&](float*) { ++freed; }) : Tensor::borrow(data, {1024});
    const Tensor y = x * 2;
    x = Tensor();
    CHECK(y.to_vector<float>()[2] == 6);
    CHECK(std::vector<float>(data, data + 1024) == before);
    CHECK(freed == (adopted ? 1 : 0));
  }
}

TEST_CASE("refused data") {
  float* none = nullptr;
  CHECK_THROWS_WITH_AS(Tensor::borrow(none, {2, 3}), "borrow: the pointer is null; (2, 3) of float32 needs 24 bytes",
                       ArgumentError);
  CHECK(Tensor::borrow(none, {0, 3}).numel() == 0);
  alignas(8) char bytes[32] = {};
  CHECK_THROWS_WITH_AS(Tensor::borrow(reinterpret_cast<double*>(bytes + 1), {1}),
                       "borrow: the pointer is not aligned to float64's 8 bytes", ArgumentError);
  CHECK_THROWS_WITH_AS(Tensor::from(std::vector<int>{1, 2, 3}, {2, 2}),
                       "from: 3 elements came for (2, 2), which takes 4", ArgumentError);
  CHECK_THROWS_WITH_AS(Tensor::from(std::vector<int>{}, {-2, 2}),
                       "from: (-2, 2) has a negative extent; extents are >= 0", ShapeError);
  CHECK_THROWS_WITH_AS(Tensor::of<int>({{1, 2}, {3}}), "of: rows of 2 and 1 elements; give rows of equal length",
                       ShapeError);
  CHECK_THROWS_AS(Tensor::borrow(reinterpret_cast<std::int8_t*>(bytes), {std::int64_t{1} << 40, std::int64_t{1} << 40}),
                  OverflowError);
  CHECK_THROWS_WITH_AS(Tensor::borrow(reinterpret_cast<double*>(bytes), {std::int64_t{1} << 61}),
                       "borrow: (2305843009213693952) of float64 takes more than 2^63-1 bytes", OverflowError);
}

TEST_CASE("results") {
  const Tensor x = Tensor::of<float>({1, 2, 3});
  float out[3] = {};
  x.copy_to(out);
  CHECK(out[2] == 3);
  x.copy_to(std::span<float>(out));
  CHECK(scalar(2.5).item<float>() == 2.5F);
  CHECK_THROWS_WITH_AS(x.to_vector<int>(),
                       "to_vector: the elements are float32 and int32 was asked for; convert with to(DType) first",
                       DTypeError);
  CHECK_THROWS_WITH_AS(x.copy_to(std::span<float>(out, 2)), "copy_to: (3) holds 3 elements and the span 2",
                       ArgumentError);
  CHECK_THROWS_WITH_AS(x.copy_to(static_cast<float*>(nullptr)), "copy_to: the pointer is null", ArgumentError);
  CHECK_THROWS_WITH_AS(x.item<float>(), "item: (3) holds 3 elements; only a tensor of one element has an item",
                       ShapeError);
  CHECK_THROWS_WITH_AS(x.size(1), "size: axis 1 of a tensor with 1 axis; give one of -1 to 0", ShapeError);
}

TEST_CASE("copies name one storage, and assignment names another") {
  Tensor x = Tensor::of<float>({1, 2});
  const Tensor copy = x;
  const Tensor before = +x;
  x += 1;
  CHECK(copy.to_vector<float>() == std::vector<float>{2, 3});
  CHECK(before.to_vector<float>() == std::vector<float>{1, 2});
  x = x + 1;
  CHECK(copy.to_vector<float>() == std::vector<float>{2, 3});
  CHECK(x.to_vector<float>() == std::vector<float>{3, 4});
  Tensor moved = std::move(x);
  CHECK(moved.numel() == 2);
  x = moved;  // a moved-from tensor can be given a value again
  CHECK(x.numel() == 2);
}

TEST_CASE("several tensors are realised together") {
  const Tensor x = Tensor::of<float>({1, 2});
  const Tensor y = x + 1;
  const Tensor z = y * 2;
  CHECK_FALSE(z.realized());
  realize({y, z});
  CHECK(y.realized());
  CHECK(z.realized());
  CHECK(z.realize().to_vector<float>() == std::vector<float>{4, 6});
  realize(std::span<const Tensor>());
}

}  // namespace tensor_test
