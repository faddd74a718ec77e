// Small conveniences: lists of sizes from vectors, halves, roll and slice along some axes, strided views, reading
// elements in place, allclose.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "oriel/oriel.hpp"
#include "support/refusal.hpp"

namespace oriel::convenience_test {
namespace {

using test::refusal;
using Floats = std::vector<float>;
using Longs = std::vector<std::int64_t>;

Floats counted(std::int64_t n) {
  Floats out(static_cast<std::size_t>(n));
  std::iota(out.begin(), out.end(), 0.0F);
  return out;
}

}  // namespace

TEST_CASE("vectors of integers are shapes, axes and lists") {
  const std::vector<std::int64_t> sizes{2, 3};
  const std::vector<int> order{1, 0};
  const Tensor x = Tensor::from(counted(6), sizes);
  CHECK(x.shape() == Shape{2, 3});
  CHECK(x.permute(order).shape() == Shape{3, 2});
  CHECK(sum(x, order).item<float>() == 15);
  CHECK(sum(x, std::vector<std::size_t>{1}).to_vector<float>() == Floats{3, 12});
  CHECK(zeros(std::vector<std::int64_t>{}).shape() == Shape{});
  const std::vector<Range> ranges{{0, 1}, {1, 3}};
  CHECK(x.shrink(ranges).to_vector<float>() == Floats{1, 2});
  Shape shape = sizes;
  shape = std::vector<std::int64_t>{4, 5, 6, 7, 8, 9, 10, 11, 12};
  CHECK(shape.size() == 9);
  CHECK(shape.back() == 12);
}

TEST_CASE("halves from lists of numbers, and as wider floats") {
  const Tensor x = Tensor::of<float16_t>({1, 0.5, 65504, 1e9});
  CHECK(x.dtype() == DType::float16);
  const auto halves = x.to_vector<float16_t>();
  const double wide = halves[1];
  CHECK(wide == 0.5);
  CHECK(double(halves[2]) == 65504);
  CHECK(std::isinf(double(halves[3])));
  CHECK(halves[0] + halves[1] == 1.5F);
  const Tensor y = Tensor::of<bfloat16_t>({{1, 2.5}, {3, -4}});
  CHECK(y.shape() == Shape{2, 2});
  CHECK(y.to(DType::float64).to_vector<double>() == std::vector<double>{1, 2.5, 3, -4});
  CHECK(Tensor::of<float16_t>({float16_t(1.0F), float16_t(2.0F)}).numel() == 2);
  CHECK(refusal([] {
          Tensor::of<float16_t>({{1, 2}, {3}});
        }) == "of: rows of 2 and 1 elements; give rows of equal length");
}

TEST_CASE("roll over several axes") {
  const Tensor x = Tensor::from(counted(6), {2, 3});
  CHECK(roll(x, {1, -1}, {0, 1}).to_vector<float>() == Floats{4, 5, 3, 1, 2, 0});
  CHECK(roll(x, {1, 1, 1}, {1, 1, -2}).to_vector<float>() == roll(roll(x, 2, 1), 1, 0).to_vector<float>());
  CHECK(roll(x, {}, {}).to_vector<float>() == counted(6));
  CHECK(refusal([&] {
          roll(x, {1}, {0, 1});
        }) == "roll: 1 shifts for 2 axes; give one shift for each axis that is named");
  CHECK(refusal([&] { roll(x, {1}, {2}); }) == "roll: axis 2 of a tensor with 2 axes; give one of -2 to 1");
}

TEST_CASE("shrink of some axes") {
  const Tensor x = Tensor::from(counted(24), {2, 3, 4});
  CHECK(x.shrink({{1, 3}}, -1).to_vector<float>() == x.shrink({{0, 2}, {0, 3}, {1, 3}}).to_vector<float>());
  CHECK(x.shrink({{2, 3}, {0, 1}}, {1, 0}).to_vector<float>() == Floats{8, 9, 10, 11});
  Tensor y = x + 0;
  y.shrink({{0, 1}}, 0).assign(0);  // a view
  CHECK(y.select(0, 0).to_vector<float>() == Floats(12, 0));
  CHECK(refusal([&] {
          x.shrink({{0, 1}}, {0, 1});
        }) == "shrink: 1 ranges for 2 axes; give one range for each axis that is named");
  CHECK(refusal([&] {
          x.shrink({{0, 1}, {0, 1}}, {0, -3});
        }) == "shrink: axes (0, -3) name axis 0 twice; name each once");
}

TEST_CASE("as_strided reads through any view, in bounds, and can be written through") {
  const Tensor x = Tensor::from(counted(6), {2, 3});
  CHECK(as_strided(x, View::make({2, 3}, {1, 2})).to_vector<float>() == Floats{0, 2, 4, 1, 3, 5});
  CHECK(as_strided(x, View::make({2, 2}, {0, 1}, 4)).to_vector<float>() == Floats{4, 5, 4, 5});
  CHECK(as_strided(x, View::make({4}, {1}, -1, {{1, 3}})).to_vector<float>() == Floats{0, 0, 1, 0});
  CHECK(as_strided(x, View::make({3}, {-2}, 5)).strides() == Ints{-2});
  CHECK(as_strided(x.transpose(), View::make({3}, {1})).to_vector<float>() == Floats{0, 3, 1});
  Tensor y = x + 0;
  as_strided(y, View::make({2, 2}, {3, 1}, 1)).assign(9);
  CHECK(y.to_vector<float>() == Floats{0, 9, 9, 3, 9, 9});
  CHECK_THROWS_AS(as_strided(y, View::make({2, 2}, {1, 1})).assign(9), ShapeError);
  CHECK(refusal([&] {
          as_strided(x, View::make({4, 3}, {3, 1}));
        }) == "as_strided: (4,3):(3,1) reads positions 0 to 11 of a source (2, 3) with 6 elements");
  CHECK(refusal([&] {
          as_strided(x, View{{2}, {1, 2}, 0, {}});
        }) == "as_strided: got 2 strides for shape (2); give one for each of its 1 axis");
}

TEST_CASE("empty tensors of a shape, and of strides") {
  const Tensor x = empty({2, 3}, DType::int8);
  CHECK(x.dtype() == DType::int8);
  CHECK(x.strides() == Ints{3, 1});
  for (const Ints& strides : {Ints{1, 2}, Ints{3, 1}, Ints{7, 2}}) {
    Tensor y = empty_strided({2, 3}, strides);
    CHECK(y.strides() == strides);
    y.assign(x.to(DType::float32) * 0 + Tensor::from(counted(6), {2, 3}));
    CHECK(y.to_vector<float>() == counted(6));
    CHECK(y.strides() == strides);
  }
  CHECK(empty_strided({2, 3}, {0, 1}).strides() == Ints{0, 1});
  Tensor repeated = empty_strided({2, 3}, {0, 1});
  CHECK_THROWS_AS(repeated.assign(1), ShapeError);
  CHECK(empty_strided({0, 3}, {3, 1}).numel() == 0);
  CHECK(refusal([] {
          empty_strided({2, 3}, {1});
        }) == "empty_strided: (2, 3) has 2 axes, but 1 strides were given; give one per axis");
  CHECK(refusal([] {
          empty_strided({2, 3}, {1, -2});
        }) == "empty_strided: strides (1, -2) hold a negative one; strides are >= 0");
  CHECK(refusal([] {
          empty_strided({2, -3}, {1, 2});
        }) == "empty_strided: (2, -3) has a negative extent; extents are >= 0");
}

TEST_CASE("elements are read where they lie") {
  Tensor x = (iota({4, 4}).to(DType::float32) * 2).realize();
  const auto held = x.data<float>();
  CHECK(held.size() == 16);
  CHECK(held[5] == 10);
  CHECK(std::accumulate(held.begin(), held.end(), 0.0F) == 240);
  CHECK(x.data<float>().data() == held.data());
  float memory[3] = {1, 2, 3};
  CHECK(Tensor::borrow(memory, {3}).data<float>().data() == memory);
  // contiguous() copies a transposed tensor into row-major order, and computes a pending view.
  CHECK(x.transpose().contiguous().data<float>()[1] == 8);
  CHECK(x.transpose().data<float>()[1] == 8);
  CHECK(x.shrink({{1, 2}, {1, 3}}).data<float>()[0] == 10);
  CHECK(Tensor::of<bool>({true, false}).data<bool>()[0]);
  CHECK(zeros({0, 3}).data<float>().empty());
  const std::span<const float> span = held;
  CHECK(span.size() == 16);
  CHECK(refusal([&] { static_cast<void>(x.data<double>()); }) ==
        "data: the elements are float32 and float64 was asked for; convert with to(DType) first");
}

TEST_CASE("elements that are held stay as they are, and the memory is overwritten again once they are let go") {
  Tensor x = (iota({64}).to(DType::float32) * 2).realize();
  const float* place = nullptr;
  {
    const Elements<float> held = x.data<float>();
    place = held.data();
    x += 1;
    x.select(0, 0).assign(-7);
    x.realize();
    CHECK(held[0] == 0);
    CHECK(held[63] == 126);
    CHECK(x.data<float>().data() != place);
    const Elements<float> copy = held;
    x = Tensor();
    CHECK(copy[1] == 2);
  }
  Tensor y = (iota({64}).to(DType::float32) * 2).realize();
  place = y.data<float>().data();
  y += 1;
  CHECK(y.data<float>().data() == place);
  CHECK(y.data<float>()[63] == 127);
}

TEST_CASE("allclose follows NumPy") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  const Tensor a = Tensor::of<float>({1, 1.000005F, 1.1F, nan, inf, inf, -inf, 0});
  const Tensor b = Tensor::of<float>({1, 1, 1, nan, inf, -inf, 5, 1e-9F});
  CHECK(isclose(a, b).to_vector<bool>() == std::vector<bool>{true, true, false, false, true, false, false, true});
  CHECK(isclose(a, b, 0.2, 0, true).to_vector<bool>() ==
        std::vector<bool>{true, true, true, true, true, false, false, false});
  CHECK(allclose(1, 1.000001));
  CHECK(!allclose(a, b));
  CHECK(allclose(Tensor::of<float>({1, nan}), Tensor::of<float>({1, nan}), 1e-5, 1e-8, true));
  CHECK(allclose(iota({3}), Tensor::of<std::int8_t>({0, 1, 2})));
  // allclose is not symmetric: the second operand is the reference.
  CHECK(allclose(10, 11, 0.095, 0) != allclose(11, 10, 0.095, 0));
  CHECK(allclose(zeros({0, 3}), 5));
  CHECK(allclose(ones({2, 3}), Tensor::of<double>({1, 1, 1})));
  CHECK(refusal([] { allclose(ones({2}), ones({3})); }) ==
        "allclose: (2) and (3) do not broadcast: axis -1 is 2 and 3; extents must agree or be 1");
}

TEST_CASE("errors speak of what was written") {
  CHECK(refusal([] {
          matmul(ones({2, 2, 3}), ones({3, 3, 2}));
        }) ==
        "matmul: (2, 2, 3) x (3, 3, 2): the axes in front of the last two, (2) and (3), do not broadcast; counted from "
        "the last, extents must agree or be 1");
  CHECK(refusal([] {
          ones({2, 3}).unsqueeze(4);
        }) == "unsqueeze: a new axis at 4 of a tensor with 2 axes; give a place of -3 to 2");
  CHECK(refusal([] {
          stack({ones({2}), ones({2})}, 2);
        }) == "stack: a new axis at 2 of a tensor with 1 axis; give a place of -2 to 1");
  CHECK(refusal([] {
          ones({2, 3}).expand({-1, 2, 3});
        }) == "expand: -1 in (-1, 2, 3) stands for a new axis of (2, 3), which has no extent to keep; name it");
  for (const std::int64_t far : {INT64_MIN, INT64_MAX}) CHECK(diagonal(ones({3, 3}), far).shape() == Shape{0});
  CHECK(refusal([] { diagonal(ones({3})); }) == "diagonal: (3) has fewer than the two axes of a matrix");
  CHECK(refusal([] { (void)eye(-1); }) == "eye: -1 rows; give a number >= 0");
  CHECK(refusal([] { scalar(1).size(0); }) ==
        "size: axis 0 of a tensor without axes; reshape it to (1) first, which has axis 0");
}

TEST_CASE("strides of views of constants are those of any view") {
  Tensor x = zeros({2, 3});
  CHECK(x.transpose().strides() == Ints{1, 3});
  CHECK_THROWS_AS(x.transpose().view({-1}), ShapeError);
  CHECK(ones({1, 4}).expand({3, 4}).strides() == Ints{0, 1});
  CHECK(zeros({4, 4}).slice({{.step = 2}}).strides() == Ints{8, 1});
  CHECK(full({3}, 7).flip().strides() == Ints{-1});
  CHECK(zeros({2, 3}).transpose().realize().strides() == Ints{1, 3});
  CHECK((zeros({2, 3}).transpose() + 1).strides() == Ints{1, 3});
  x.transpose().assign(iota({3, 2}));
  CHECK(x.transpose().strides() == Ints{1, 3});
  CHECK(x.to_vector<float>() == Floats{0, 2, 4, 1, 3, 5});
  // A tensor of ones takes part in choosing the result's layout; a number does not.
  const Tensor y = iota({2, 3}).to(DType::float32).transpose();
  CHECK((ones({3, 2}) + y).strides() == Ints{2, 1});
  CHECK((1 + y).strides() == Ints{1, 3});
}

TEST_CASE("operands with fewer axes count as they are") {
  // An axis of extent 1 at each position. PyTorch's answers for these layouts are those of oriel::iterate.
  for (const Shape& shape :
       {Shape{3, 1, 3, 3}, Shape{3, 3, 1, 3}, Shape{2, 3, 3, 1}, Shape{1, 3, 1, 1}, Shape{2, 3, 4, 5}}) {
    const Tensor cl = iota(shape).to(DType::float32).to(MemoryFormat::channels_last);
    for (const Shape& other : {Shape{1, 3, 3}, Shape{3, 1, 1}, Shape{1}, Shape{1, 1}, Shape{4, 5}}) {
      const Tensor ct = iota(other);
      bool fits = true;
      try {
        broadcast_shape(shape, other);
      } catch (const ShapeError&) {
        fits = false;
      }
      if (!fits) continue;
      const Tensor same = ct.to(DType::float32);
      CAPTURE(to_string(shape) + to_string(other));
      CHECK((cl + same).strides() == iterate({cl, same}).outputs[0].strides);
      CHECK((same + cl).strides() == iterate({same, cl}).outputs[0].strides);
    }
  }
  const Tensor cl = iota({3, 3, 1, 3}).to(DType::float32).to(MemoryFormat::channels_last);
  CHECK((cl + iota({3, 1, 3}).to(DType::float32)).strides() == Ints{9, 1, 9, 3});
  // A tensor that is both contiguous and channels-last, beside an operand that is neither.
  const Tensor both = iota({2, 3, 1, 1}).to(DType::float32).to(MemoryFormat::channels_last);
  CHECK(both.strides() == Ints{3, 1, 3, 3});
  const Tensor turned = iota({3, 1, 3}).to(DType::float32).transpose(0, 2);
  CHECK(turned.strides() == Ints{1, 3, 3});
  CHECK((both + turned).strides() == Ints{9, 1, 3, 3});
}

}  // namespace oriel::convenience_test
