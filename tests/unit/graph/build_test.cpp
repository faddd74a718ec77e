// The rules of the builders: shapes, dtypes, what is folded at the call, and all errors.
#include <doctest/doctest.h>

#include <limits>
#include <vector>

#include "graph/build.hpp"
#include "graph/verify.hpp"
#include "oriel/error.hpp"

namespace build_test {

using namespace oriel;
using namespace oriel::graph;

namespace {

NodePtr leaf_of(const Shape& shape, DType dtype = DType::float32) {
  static char memory[4096];
  const auto bytes = static_cast<std::size_t>(numel(shape).value()) * itemsize(dtype);
  return leaf(std::make_shared<mem::Buffer>(Device::eigen(), memory, bytes, nullptr), dtype, shape);
}

NodePtr number(double value, const Shape& shape, DType dtype = DType::float32) {
  return constant(Scalar::of_float(dtype, value), shape);
}

}  // namespace

TEST_CASE("elementwise nodes take shape and dtype from their sources") {
  const NodePtr x = leaf_of({2, 3});
  CHECK(unary(Op::Exp, x)->dtype == DType::float32);
  CHECK(unary(Op::IsNan, x)->dtype == DType::bool_);
  CHECK(binary(Op::Add, x, x)->shape == Shape{2, 3});
  CHECK(binary(Op::Lt, x, x)->dtype == DType::bool_);
  CHECK(where(binary(Op::Lt, x, x), x, x)->dtype == DType::float32);
  CHECK(cast(x, DType::int8)->dtype == DType::int8);
  CHECK(cast(x, DType::float32) == x);
  CHECK(bitcast(x, DType::int32)->dtype == DType::int32);
  const NodePtr sum = binary(Op::Add, x, unary(Op::Exp, x));
  verify({&sum, 1});
}

TEST_CASE("refused dtypes and shapes") {
  const NodePtr x = leaf_of({2, 3});
  const NodePtr i = leaf_of({2, 3}, DType::int32);
  const NodePtr b = leaf_of({2, 3}, DType::bool_);
  CHECK_THROWS_WITH_AS(unary(Op::Exp, i), "exp: takes floats, not int32", DTypeError);
  CHECK_THROWS_WITH_AS(unary(Op::Neg, b), "neg: takes integers and floats, not bool", DTypeError);
  CHECK_THROWS_WITH_AS(unary(Op::Not, x), "not: takes bool and integers, not float32", DTypeError);
  CHECK_THROWS_WITH_AS(binary(Op::Shl, b, b), "shl: takes integers, not bool", DTypeError);
  CHECK_THROWS_WITH_AS(binary(Op::Add, x, i), "add: dtypes float32 and int32 differ; cast them to one first",
                       DTypeError);
  CHECK_THROWS_WITH_AS(binary(Op::Add, x, leaf_of({3})), "add: shapes (2, 3) and (3) differ; broadcast them first",
                       ShapeError);
  CHECK_THROWS_WITH_AS(where(x, x, x), "where: the condition is float32; it must be bool", DTypeError);
  CHECK_THROWS_WITH_AS(bitcast(x, DType::int16), "bitcast: float32 to int16; give a dtype of 4 bytes", DTypeError);
  CHECK_THROWS_WITH_AS(bitcast(leaf_of({2}, DType::int8), DType::bool_),
                       "bitcast: int8 to bool; give a dtype of 1 bytes other than bool", DTypeError);
  CHECK_THROWS_WITH_AS(unary(Op::Exp, i, {.operation = "softmax"}), "softmax: takes floats, not int32", DTypeError);
  CHECK_THROWS_AS(unary(Op::Add, x), InternalError);
}

TEST_CASE("leaves") {
  CHECK(iota({2, 3})->dtype == DType::int64);
  CHECK_THROWS_WITH_AS(number(1, {2, -3}), "const: (2, -3) has a negative extent; extents are >= 0", ShapeError);
  CHECK_THROWS_AS(iota({std::int64_t{1} << 32, std::int64_t{1} << 32}), OverflowError);
  CHECK_THROWS_WITH_AS(leaf(nullptr, DType::int8, {1}), "buffer: the buffer is null", ArgumentError);
  auto small = std::make_shared<mem::Buffer>(Device::eigen(), nullptr, 4, nullptr);
  CHECK_THROWS_WITH_AS(leaf(small, DType::float64, {2}), "buffer: (2) of float64 takes 16 bytes and the buffer holds 4",
                       ArgumentError);
  CHECK_THROWS_WITH_AS(
      binary(Op::Add, leaf_of({2}),
             leaf(std::make_shared<mem::Buffer>(Device::null(), nullptr, 8, nullptr), DType::float32, {2})),
      "add: operands live on eigen and null; copy one of them with to(Device)", DeviceError);
  const NodePtr on_null = leaf(std::make_shared<mem::Buffer>(Device::null(), nullptr, 8, nullptr), DType::float32, {2});
  CHECK(binary(Op::Add, number(1, {2}), on_null)->device == Device::null());
}

TEST_CASE("movements that change nothing are their source") {
  const NodePtr x = leaf_of({2, 3});
  CHECK(reshape(x, {2, 3}) == x);
  CHECK(permute(x, {0, 1}) == x);
  CHECK(expand(x, {2, 3}) == x);
  CHECK(shrink(x, {{0, 2}, {0, 3}}) == x);
  CHECK(pad(x, {{0, 0}, {0, 0}}) == x);
  CHECK(flip(x, {}) == x);
  CHECK(flip(reshape(x, {6, 1}), {1})->op == Op::Reshape);
  CHECK(raw_view(x, View::contiguous({2, 3})) == x);
  CHECK(reduce(Op::Sum, x, {}) == x);
}

TEST_CASE("a reshape of a reshape is one") {
  const NodePtr x = leaf_of({2, 3});
  const NodePtr twice = reshape(reshape(x, {6}), {3, 2});
  CHECK(twice->op == Op::Reshape);
  CHECK(twice->sources[0] == x);
  CHECK(reshape(reshape(x, {6}), {2, 3}) == x);
}

TEST_CASE("movements of a number are that number") {
  const NodePtr c = number(2.5, {1, 3});
  for (const NodePtr& moved : {reshape(c, {3}), permute(c, {1, 0}), expand(c, {4, 3}), shrink(c, {{0, 1}, {1, 2}}),
                               flip(c, {1}), raw_view(c, View::make({2}, {1}))}) {
    CHECK(moved->op == Op::Const);
    CHECK(std::get<Scalar>(moved->arg).f == 2.5);
  }
  CHECK(pad(c, {{0, 1}, {0, 0}})->op == Op::Pad);
  CHECK(pad(number(0, {3}), {{1, 1}})->op == Op::Const);
  CHECK(pad(number(-0.0, {3}), {{1, 1}})->op == Op::Pad);
}

TEST_CASE("refused movements") {
  const NodePtr x = leaf_of({2, 3});
  CHECK_THROWS_WITH_AS(reshape(x, {4, 2}),
                       "reshape: (2, 3) has 6 elements and (4, 2) takes 8; give a shape of 6 elements", ShapeError);
  CHECK_THROWS_WITH_AS(reshape(x, {-2, -3}), "reshape: (-2, -3) has a negative extent; extents are >= 0", ShapeError);
  CHECK_THROWS_WITH_AS(permute(x, {0}), "permute: (2, 3) has 2 axes and 1 axes came; give one an axis", ShapeError);
  CHECK_THROWS_WITH_AS(permute(x, {0, 0}),
                       "permute: (0, 0) is no order of the axes of (2, 3); give each of 0 to 1 once", ShapeError);
  CHECK_THROWS_WITH_AS(expand(x, {2, 6}),
                       "expand: axis 1 of (2, 3) cannot grow to 6 for (2, 6); only axes of extent 1 grow", ShapeError);
  CHECK_THROWS_AS(expand(leaf_of({1, 1}), {std::int64_t{1} << 40, std::int64_t{1} << 40}), OverflowError);
  CHECK_THROWS_WITH_AS(shrink(x, {{0, 2}, {2, 4}}), "shrink: [2, 4) leaves axis 1 of (2, 3); give 0 <= lo <= hi <= 3",
                       ShapeError);
  CHECK_THROWS_WITH_AS(pad(x, {{0, 0}, {-1, 0}}), "pad: (-1, 0) on axis 1 of (2, 3); give counts >= 0", ShapeError);
  CHECK_THROWS_WITH_AS(pad(x, {{INT64_MAX, 1}, {0, 0}}),
                       "pad: (9223372036854775807, 1) on axis 0 of (2, 3) passes 2^63-1", OverflowError);
  CHECK_THROWS_WITH_AS(flip(x, {1, 0}), "flip: axes (1, 0) of (2, 3) must ascend and lie in [0, 2)", ShapeError);
  CHECK_THROWS_WITH_AS(format(x, Ints{1}), "format: (2, 3) has 2 axes and 1 strides came; give one an axis",
                       ShapeError);
  CHECK_THROWS_AS(raw_view(x, View::make({4}, {2})), ShapeError);
  CHECK_THROWS_WITH_AS(reduce(Op::Sum, x, {2}), "sum: axes (2) of (2, 3) must ascend and lie in [0, 2)", ShapeError);
}

TEST_CASE("reduced axes stay with extent 1") {
  const NodePtr x = leaf_of({2, 3, 4});
  CHECK(reduce(Op::Sum, x, {0, 2})->shape == Shape{1, 3, 1});
  CHECK(reduce(Op::ReduceMax, x, {1})->dtype == DType::float32);
  CHECK_THROWS_WITH_AS(reduce(Op::Sum, leaf_of({2}, DType::bool_), {0}), "sum: takes integers and floats, not bool",
                       DTypeError);
}

TEST_CASE("broadcasting") {
  CHECK(broadcast_shapes({2, 1, 3}, {4, 1}) == Shape{2, 4, 3});
  CHECK(broadcast_shapes({}, {0, 2}) == Shape{0, 2});
  CHECK(broadcast_shapes({1}, {0}) == Shape{0});
  CHECK_THROWS_WITH_AS(broadcast_shapes({2, 3}, {2, 4}, {.operation = "add"}),
                       "add: (2, 3) and (2, 4) do not broadcast: axis -1 is 3 and 4; extents must agree or be 1",
                       ShapeError);
  CHECK(broadcast_to(leaf_of({3}), {2, 3})->shape == Shape{2, 3});
  CHECK_THROWS_WITH_AS(
      broadcast_to(leaf_of({2, 3}), {3}),
      "broadcast_to: (2, 3) does not broadcast to (3); extents, counted from the last, must agree or be 1", ShapeError);
  CHECK(normal_axes({-1, 0}, 3) == Ints{0, 2});
  CHECK_THROWS_WITH_AS(normal_axes({3}, 3), "axis: axis 3 of a tensor with 3 axes; give one of -3 to 2", ShapeError);
  CHECK_THROWS_WITH_AS(normal_axes({1, -1}, 2), "axes: axes (1, -1) name axis 1 twice; name each once", ShapeError);
  CHECK_THROWS_WITH_AS(normal_axis(0, 0),
                       "axis: axis 0 of a tensor without axes; reshape it to (1) first, which has axis 0", ShapeError);
}

TEST_CASE("equal structure has an equal hash, and a different one another") {
  const NodePtr x = leaf_of({2, 3});
  CHECK(unary(Op::Exp, x)->hash == unary(Op::Exp, x)->hash);
  CHECK(unary(Op::Exp, x)->hash != unary(Op::Log, x)->hash);
  CHECK(number(1, {2})->hash != number(2, {2})->hash);
  CHECK(shrink(x, {{0, 1}, {0, 3}})->hash != shrink(x, {{1, 2}, {0, 3}})->hash);
  CHECK(reduce(Op::Sum, x, {0})->hash != reduce(Op::Sum, x, {1})->hash);
}

TEST_CASE("the verifier takes both kinds of Format, and no other") {
  const NodePtr x = leaf_of({2, 3});
  for (const NodePtr& node : {format(x, Ints{1, 2}), format(x, MemoryFormat::contiguous),
                              format(leaf_of({1, 2, 3, 4}), MemoryFormat::channels_last), format(leaf_of({}), Ints{})})
    CHECK_NOTHROW(verify({&node, 1}));
  const NodePtr broken = format(x, Ints{1, 2});
  const_cast<Node*>(broken.get())->arg = Ints{static_cast<std::int64_t>(MemoryFormat::preserve), 1};
  CHECK_THROWS_AS(verify({&broken, 1}), InternalError);
}

TEST_CASE("the verifier names a broken node") {
  const NodePtr x = leaf_of({2, 3});
  const NodePtr y = unary(Op::Exp, x);
  const_cast<Node*>(y.get())->shape = Shape{3, 2};
  CHECK_THROWS_WITH_AS(verify({&y, 1}), "verify: Exp float32 (3, 2): sources have the node's shape", InternalError);
  const NodePtr z = permute(x, {1, 0});
  const_cast<Node*>(z.get())->arg = Ints{0, 0};
  CHECK_THROWS_AS(verify({&z, 1}), InternalError);
}

}  // namespace build_test
