// The public form of the joint iteration of layouts. view/iterate_test.cpp compares its rules with PyTorch's answers.
#include <doctest/doctest.h>

#include <array>

#include "oriel/oriel.hpp"

namespace oriel::iterate_test {

TEST_CASE("layouts, tensors, and outputs that are there already") {
  const Layout image{{2, 3, 4, 5}, {60, 1, 15, 3}};
  const Iteration it = iterate({image, Layout::contiguous({3, 4, 5})});
  CHECK(it.shape == Shape{2, 3, 4, 5});
  CHECK(it.path == "none");
  CHECK(it.order == Ints{1, 3, 2, 0});
  CHECK(it.strides[1] == Ints{0, 20, 5, 1});
  CHECK(it.outputs[0] == image);
  CHECK(it.loop_shape == Shape{3, 20, 2});
  CHECK(it.loop_strides[0] == Ints{1, 3, 60});
  CHECK(it.str() ==
        "shape      (2,3,4,5)\n"
        "strides 0  (60,1,15,3)\n"
        "strides 1  (0,20,5,1)\n"
        "order      1 3 2 0  (fastest first)\n"
        "loops      (3,20,2) by (1,3,60) <- (1,3,60) (20,1,0)\n");
  const Tensor x = iota({2, 3}).transpose();
  CHECK(iterate({x, x}).path == "non_overlapping_dense");
  CHECK(iterate({x}).outputs[0].strides == (x + 1).strides());
  const std::array<std::optional<IterationOperand>, 1> output{Layout{{2, 3}, {1, 2}}};
  const std::array<IterationOperand, 1> input{Layout::contiguous({2, 3})};
  CHECK(iterate(input, output).outputs[0].strides == Ints{1, 2});
  const std::array<std::optional<IterationOperand>, 1> shifted{IterationOperand(Layout::contiguous({2, 3}), 1)};
  const std::array<IterationOperand, 1> placed{IterationOperand(Layout::contiguous({2, 3}), 0)};
  CHECK_THROWS_AS(iterate(placed, shifted), ShapeError);
  CHECK_THROWS_AS(iterate({Layout{{2, 3}, {1}}}), ShapeError);
  CHECK_THROWS_AS(iterate(std::initializer_list<IterationOperand>{}), ArgumentError);
}

TEST_CASE("reductions") {
  const Layout x{{2, 3, 4}, {12, 1, 3}};
  const Iteration it = iterate_reduction(x, {1});
  CHECK(it.order == Ints{1, 2, 0});
  CHECK(it.loop_shape == Shape{3, 8});
  CHECK(it.loop_strides[0] == Ints{0, 1});
  CHECK(it.loop_strides[1] == Ints{1, 3});
  CHECK(it.outputs[0] == Layout::contiguous({2, 4}));
  CHECK(iterate_reduction(x, {0, -1}, true).outputs[0] == Layout::contiguous({1, 3, 1}));
  CHECK(iterate_reduction(x).outputs[0] == Layout{});
  CHECK(iterate_reduction(iota({2, 3})).loop_shape == Shape{6});
  CHECK_THROWS_WITH_AS(iterate_reduction(x, {3}), "iterate: axis 3 of a tensor with 3 axes; give one of -3 to 2",
                       ShapeError);
  CHECK_THROWS_AS(iterate_reduction(x, {0, -3}), ShapeError);
}

}  // namespace oriel::iterate_test
