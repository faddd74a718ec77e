// The strides of joined tensors are PyTorch's.
#include <doctest/doctest.h>

#include <vector>

#include "oriel/oriel.hpp"

namespace join_layout_test {

using namespace oriel;

namespace {

Tensor counting(const Shape& shape) { return arange(numel(shape).value()).to(DType::float32).reshape(shape); }

/// Checks strides before and after the elements are in memory, and the elements against those of row-major operands.
void check(const Tensor& got, const Tensor& row_major, const Ints& strides) {
  CHECK(got.strides() == strides);
  got.realize();
  CHECK(got.strides() == strides);
  CHECK(got.shape() == row_major.shape());
  CHECK(got.to_vector<float>() == row_major.to_vector<float>());
}

}  // namespace

TEST_CASE("concat keeps a format that all pieces have") {
  const Tensor rows = counting({2, 3, 5, 4});
  const Tensor x = rows.to(MemoryFormat::channels_last).realize();
  check(concat({x, x}, 1), concat({rows, rows}, 1), {120, 1, 24, 6});
  check(concat({x, x}, 0), concat({rows, rows}, 0), {60, 1, 12, 3});
  check(concat({x, x, x}, 3), concat({rows, rows, rows}, 3), {180, 1, 36, 3});
  check(concat({x, rows}, 1), concat({rows, rows}, 1), {120, 20, 4, 1});
  check(concat({x, x.to(DType::float64)}, 1).to(DType::float32), concat({rows, rows}, 1), {120, 1, 24, 6});
  check(concat({x * 2, x.shrink({{0, 2}, {0, 3}, {1, 4}, {0, 4}})}, 2),
        concat({rows * 2, rows.shrink({{0, 2}, {0, 3}, {1, 4}, {0, 4}})}, 2), {96, 1, 12, 3});
  const Tensor empty = x.shrink({{0, 2}, {0, 3}, {0, 0}, {0, 4}});
  check(concat({x, empty}, 2), rows, {60, 20, 4, 1});
  const Tensor volume = counting({2, 3, 2, 5, 4});
  const Tensor v = volume.to(MemoryFormat::channels_last_3d).realize();
  check(concat({v, v}, 1), concat({volume, volume}, 1), {240, 1, 120, 24, 6});
  const Tensor turned = counting({3, 4}).transpose().realize();
  CHECK(concat({turned, turned}, 0).strides() == Ints{3, 1});
}

TEST_CASE("stack splits the axis of a concatenation") {
  const Tensor rows = counting({2, 3, 5, 4});
  const Tensor x = rows.to(MemoryFormat::channels_last).realize();
  check(stack({x, x}, 1), stack({rows, rows}, 1), {120, 3, 1, 24, 6});
  check(stack({x, x}, 0), stack({rows, rows}, 0), {120, 60, 1, 12, 3});
  check(stack({x, x}, 3), stack({rows, rows}, 3), {120, 1, 24, 12, 3});
  check(stack({x, rows}, 1), stack({rows, rows}, 1), {120, 60, 20, 4, 1});
  check(stack({x, x}, 4), stack({rows, rows}, 4), {120, 40, 8, 2, 1});
}

TEST_CASE("roll keeps a format, but not by nothing") {
  const Tensor rows = counting({2, 3, 5, 4});
  const Tensor x = rows.to(MemoryFormat::channels_last).realize();
  for (const std::int64_t axis : {0, 1, 2, 3}) {
    CAPTURE(axis);
    check(roll(x, 1, axis), roll(rows, 1, axis), {60, 1, 12, 3});
  }
  check(roll(x, {1, -1}, {2, 3}), roll(rows, {1, -1}, {2, 3}), {60, 1, 12, 3});
  check(roll(x, 5, 2), rows, {60, 20, 4, 1});
  check(roll(rows, 1, 2), roll(rows, 1, 2), {60, 20, 4, 1});
}

}  // namespace join_layout_test
