// Reading elements at positions that tensors hold.
#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "oriel/oriel.hpp"
#include "reference/interpret.hpp"
#include "support/unchecked_positions.hpp"

namespace oriel::take_test {
namespace {

void agree(const Tensor& x) {
  const std::vector<reference::Number> want = reference::interpret(x);
  CHECK(reference::difference(x, want, reference::elements(x)) == "");
}

}  // namespace

TEST_CASE("take reads entries of an axis, counted from the end where negative") {
  const Tensor x = Tensor::of<float>({{1, 2}, {3, 4}, {5, 6}});
  const Tensor rows = take(x, Tensor::of<std::int32_t>({2, 0, -1}), 0);
  CHECK(rows.shape() == Shape{3, 2});
  CHECK(rows.to_vector<float>() == std::vector<float>{5, 6, 1, 2, 5, 6});
  const Tensor columns = take(x, Tensor::of<std::int64_t>({{1, 0}, {1, 1}}), -1);
  CHECK(columns.shape() == Shape{3, 2, 2});
  CHECK(columns.to_vector<float>() == std::vector<float>{2, 1, 2, 2, 4, 3, 4, 4, 6, 5, 6, 6});
}

TEST_CASE("gather picks along one axis at each place of the index") {
  const Tensor x = Tensor::of<std::int32_t>({{1, 2, 3}, {4, 5, 6}});
  CHECK(gather(x, Tensor::of<std::int32_t>({{2, 0}, {1, -1}}), 1).to_vector<std::int32_t>() ==
        std::vector<std::int32_t>{3, 1, 5, 6});
  CHECK(gather(x, Tensor::of<std::int32_t>({{1, 0, 1}}), 0).to_vector<std::int32_t>() ==
        std::vector<std::int32_t>{4, 2, 6});
}

TEST_CASE("every dtype, fused with what is around it") {
  const test::UncheckedPositions unchecked;
  for (int d = 0; d < kDTypeCount; ++d) {
    const auto dtype = static_cast<DType>(d);
    CAPTURE(std::string(name(dtype)));
    const Tensor x = (arange(60) % 7).to(dtype).reshape({5, 12});
    const Tensor index = (arange(100) * 7 % 13 - 1).to(DType::int32);  // 11 is outside no axis, 12 is outside some
    agree(take(x, index, 1));
    agree(take(x.permute({1, 0}), index % 5, 1));
    if (is_floating(dtype)) agree(exp(take(x, index, 1) * 0.125) + 1);
    if (dtype != DType::bool_) agree(sum(take(x, index, 1), {1}));
  }
}

TEST_CASE("the source of a gather is computed first; its own memory order does not matter") {
  const test::UncheckedPositions unchecked;
  const Tensor x = arange(24).to(DType::float32).reshape({1, 2, 3, 4});
  const Tensor last = x.to(MemoryFormat::channels_last);
  last.realize();
  const Tensor index = Tensor::of<std::int32_t>({1, 0, 2, 5, -1});
  agree(take(last, index, 2));
  CHECK(take(last, index, 2).to_vector<float>() == take(x, index, 2).to_vector<float>());
  agree(take(exp(x * 0.01), index, 2));
  agree(take(take(x, index, 3), index, 2));
  // One element that the gather's kernel could compute itself. It is stored nevertheless, because a gather reads
  // memory.
  agree(take(sum(x, {0, 1, 2, 3}).reshape({1}), Tensor::of<std::int32_t>({0})));
  const Tensor scaled = x * 3;
  agree(scaled + take(scaled, Tensor::of<std::int32_t>({3, 2, 1, 0}), 3));
}

TEST_CASE("a write and a gather of the same memory") {
  Tensor x = arange(6).to(DType::int32);
  x.realize();
  const Tensor before = take(x, Tensor::of<std::int32_t>({5, 4, 3, 2, 1, 0}));
  x.assign(before + 10);
  CHECK(x.to_vector<std::int32_t>() == std::vector<std::int32_t>{15, 14, 13, 12, 11, 10});
  x.shrink({{0, 3}}).assign(take(x, Tensor::of<std::int32_t>({3, 0, 1})));
  CHECK(x.to_vector<std::int32_t>() == std::vector<std::int32_t>{12, 15, 14, 12, 11, 10});
  CHECK(before.to_vector<std::int32_t>() == std::vector<std::int32_t>{5, 4, 3, 2, 1, 0});
}

TEST_CASE("a gather from a write of a part") {
  Tensor x = zeros({4}, DType::float32);
  x.realize();
  x.shrink({{1, 3}}).assign(Tensor::of<float>({7, 8}));
  CHECK(take(x, Tensor::of<std::int32_t>({2, 1, 0})).to_vector<float>() == std::vector<float>{8, 7, 0});
}

namespace {

// Compares a view of x with a copy of the view's elements.
void agree_with_copy(const Tensor& view, const char* what) {
  CAPTURE(std::string(what));
  const Tensor plain = Tensor::from(view.to_vector<float>(), view.shape());
  for (std::size_t d = 0; d < view.rank(); ++d) {
    const auto axis = static_cast<std::int64_t>(d);
    const std::int64_t n = view.size(axis).value();
    const Tensor index = iota({9}) * 5 % (n + 3) - 1;  // some are outside
    CHECK(take(view, index, axis).to_vector<float>() == take(plain, index, axis).to_vector<float>());
    const Tensor square = index.reshape({3, 3}).to(DType::int32).transpose();
    CHECK(take(view, square, axis).to_vector<float>() == take(plain, square, axis).to_vector<float>());
    CHECK(take(view, index, axis).is_contiguous());
    const Tensor places = iota(view.shape()) * 3 % (n + 1) - 1;
    CHECK(gather(view, places, axis).to_vector<float>() == gather(plain, places, axis).to_vector<float>());
  }
}

std::size_t kernels(const Tensor& x) { return explain(x).kernels.size(); }

}  // namespace

TEST_CASE("a gather from a view reads the memory below the view") {
  const test::UncheckedPositions unchecked;
  const Tensor x = (iota({6, 4, 5}) % 97).to(DType::float32).realize();
  agree_with_copy(x, "itself");
  agree_with_copy(x.permute({2, 0, 1}), "permuted");
  agree_with_copy(x.shrink({{1, 5}, {0, 3}, {2, 4}}), "cut");
  agree_with_copy(x.flip(), "flipped");
  agree_with_copy(pad(x, {{1, 2}, {0, 1}, {3, 0}}), "padded");
  agree_with_copy(pad(x.transpose(), {{1, 0}, {2, 0}, {0, 1}}).flip({0, 2}), "padded and flipped");
  agree_with_copy(x.shrink({{0, 1}, {0, 4}, {0, 5}}).expand({3, 4, 5}), "repeated");
  agree_with_copy(x.slice({{.step = 2}, {.start = 3, .step = -2}, {.start = 1, .step = 3}}), "stepped");
  agree_with_copy(x.reshape({4, 30}), "reshaped");
  agree_with_copy(x.transpose().reshape({12, 10}), "reshaped beyond one view");
  agree_with_copy(unfold(x, 2, 3, 1), "windows");
  agree_with_copy(diagonal(x, 1, 0, 2), "a diagonal");
  agree_with_copy(x.to(MemoryFormat::contiguous).select(1, 2), "selected");
  const Tensor image = (iota({2, 3, 4, 5}) % 53).to(DType::float32).to(MemoryFormat::channels_last).realize();
  agree_with_copy(image, "channels-last");
  agree_with_copy(image.permute({0, 2, 3, 1}).shrink({{0, 2}, {1, 3}, {0, 5}, {0, 3}}),
                  "channels-last, permuted and cut");
  const Tensor index = iota({8}) * 3 % 5;
  for (const Tensor& view : {x.permute({2, 0, 1}), pad(x, {{1, 2}, {0, 1}, {3, 0}}), x.flip(), x.reshape({6, 20})}) {
    const Explanation told = explain(take(view, index, 0));
    CHECK(told.kernels.size() == 2);
    CHECK(told.memory.peak_bytes == 64);  // only the positions are stored, not the view
  }
}

TEST_CASE("a row's part of a position, masks included, is worked out once a row") {
  const test::UncheckedPositions unchecked;
  const Tensor x = iota({40, 500}).to(DType::float32).realize();
  const Tensor index = (iota({30}) * 17 % 40).realize();
  const auto operations_an_element = [](const Tensor& y) { return explain(y).kernels.back().flops / y.numel(); };
  CHECK(operations_an_element(take(x, index, 0)) == 1);
  CHECK(operations_an_element(take(x.slice({{.start = 1}, {.start = 20}}), index, 0)) == 1);
  CHECK(operations_an_element(take(pad(x, {{2, 3}, {0, 0}}), index, 0)) == 1);
  CHECK(operations_an_element(take(pad(x, {{2, 3}, {4, 5}}), index, 0)) <= 5);
  const Tensor padded = pad(x.flip(1), {{2, 3}, {4, 5}});
  CHECK(take(padded, index + 3, 0).to_vector<float>() ==
        take(padded.contiguous().realize(), index + 3, 0).to_vector<float>());
}

// Coordinates at which no element is read may have any value, however large.
TEST_CASE("coordinates outside may be anything") {
  const test::UncheckedPositions unchecked;
  const Tensor x = iota({7, 9}).to(DType::float32).realize();
  const Tensor wild = Tensor::of<std::int64_t>({3, std::numeric_limits<std::int64_t>::max(), 6,
                                                std::numeric_limits<std::int64_t>::min(), std::int64_t{1} << 54, -1});
  const Tensor view = pad(x.transpose().flip(0), {{1, 2}, {3, 1}});
  const Tensor stored = view.contiguous().realize();
  for (std::int64_t axis = 0; axis < 2; ++axis) {
    CHECK(take(view, wild, axis).to_vector<float>() == take(stored, wild, axis).to_vector<float>());
    const Tensor each = wild.reshape({axis == 0 ? 6 : 1, axis == 0 ? 1 : 6}).expand({6, 6});
    CHECK(gather(view, each, axis).to_vector<float>() == gather(stored, each, axis).to_vector<float>());
  }
#ifndef ORIEL_SMALL
  const Comprehension read =
      comprehension("def f(float(A, B) X, int64(N) I) -> (Y) { Y(n, b) = X(I(n), I(n) + b - b) where b in 0:3 }");
  const std::vector<float> got = Tensor(read(view, wild)).to_vector<float>();
  CHECK(got == Tensor(read(stored, wild)).to_vector<float>());
  CHECK(got[3] == 0);
#endif
}

TEST_CASE("a gather from a write that waits reads what was written") {
  Tensor x = (iota({6, 4}) % 97).to(DType::float32).realize();
  x.shrink({{1, 3}, {0, 4}}) += 100;
  const Tensor rows = take(x.transpose(), Tensor::of<int>({1, 5}), 1);
  x.assign(0);
  CHECK(rows.to_vector<float>() == std::vector<float>{104, 20, 105, 21, 106, 22, 107, 23});
}

TEST_CASE("what is cheap is computed at the positions, not stored") {
  const test::UncheckedPositions unchecked;
  const Tensor x = (iota({4096, 8}) % 97).to(DType::float32).realize();
  const Tensor row = (iota({8}) % 5).to(DType::float32).realize();
  const Tensor index = Tensor::of<int>({5, 4000, -1, 4096});
  const Tensor y = x * 2 + row;
  agree_with_copy((x.shrink({{0, 40}, {0, 8}}) * 2 + row).transpose(), "computed, transposed");
  agree_with_copy(exp(pad(x.shrink({{0, 40}, {0, 8}}), {{1, 1}, {0, 0}}) * 0.125), "computed from padding");
  agree_with_copy(pad(x.shrink({{0, 40}, {0, 8}}) + 1, {{3, 1}, {2, 0}}), "padding of what is computed");
  agree_with_copy(where(iota({64, 8}) % 3 == 0, x.shrink({{0, 64}, {0, 8}}), row), "chosen by positions");
  agree_with_copy((x.shrink({{0, 60}, {0, 8}}) * row).reshape({20, 24}), "computed and reshaped");
  agree_with_copy(take(x, iota({300}) * 11 % 5000, 0), "gathered");
  agree_with_copy(sum(x.reshape({64, 512}), 1, true).expand({64, 4}) + 1, "computed from a sum");
  const Explanation told = explain(take(y, index));
  CHECK(told.kernels.size() == 1);
  CHECK(told.memory.peak_bytes == 0);
  CHECK(explain(take(take(x, iota({2000}), 0), index)).memory.peak_bytes == 0);
  CHECK(take(y, index).to_vector<float>() ==
        take(Tensor::from(y.to_vector<float>(), y.shape()), index).to_vector<float>());
  // A value that is read more often than it has elements is stored.
  CHECK(kernels(take(exp(x.select(1, 3).shrink({{0, 10}})), (iota({5000}) % 10).realize())) == 2);
  // As wide as an index can tell: nothing of that size is stored.
  const Tensor wide = arange(std::int64_t{1} << 40);
  CHECK(take(wide * 3 + 1, Tensor::of<std::int64_t>({7, -1, std::int64_t{1} << 40})).to_vector<std::int64_t>() ==
        std::vector<std::int64_t>{22, ((std::int64_t{1} << 40) - 1) * 3 + 1, 0});
  CHECK(take(ones({std::int64_t{1} << 40}), Tensor::of<int>({0, -1})).to_vector<float>() == std::vector<float>{1, 1});
}

TEST_CASE("a chain of sums of itself is not computed at the positions once a path") {
  Tensor x = (iota({64, 64}) % 7).to(DType::float32).realize();
  Tensor y = x;
  for (int k = 0; k < 60; ++k) y = (y + y.transpose()) * 0.5;
  CHECK(explain(take(y, Tensor::of<int>({1}))).nodes < 2000);
}

TEST_CASE("a take of an empty axis has strides of its own") {
  const Tensor none = take(zeros({2, 0}), Tensor::of<std::int64_t>({0, 2, -1}), 1, Bounds::zero);
  CHECK(none.transpose().strides() == Shape{1, 3});
  CHECK(none.to_vector<float>() == std::vector<float>(6, 0));
}

TEST_CASE("long rows are read whole, and rows that are not there are zeros") {
  for (const DType dtype : {DType::uint8, DType::float16, DType::float32, DType::int64}) {
    for (const std::int64_t columns : {63, 64, 65, 200, 1500}) {
      INFO(name(dtype), " ", columns);
      const Tensor x = (iota({5, columns}) % 251).to(dtype).realize();
      const Tensor got = take(x, Tensor::of<std::int64_t>({4, 0, 7, -1, 2}), 0, Bounds::zero);
      const Tensor none = zeros({1, columns}, dtype);
      const auto row = [&](std::int64_t i) { return x.shrink({{i, i + 1}, {0, columns}}); };
      CHECK(all(got == concat({row(4), row(0), none, row(4), row(2)}, 0)).item<bool>());
      // Rows that begin anywhere, through a flipped axis too.
      CHECK(all(take(x.flip(1), Tensor::of<int>({3, 1}), 0) == concat({row(3), row(1)}, 0).flip(1)).item<bool>());
      CHECK(all(take(x, arange(columns - 1), 1) == x.shrink({{0, 5}, {0, columns - 1}})).item<bool>());
    }
  }
}

TEST_CASE("positions without a sign count from the start") {
  const Tensor table = arange(256) * 3, bytes = arange(256).to(DType::uint8);
  CHECK(all(take(table, bytes) == table).item<bool>());
  // Of 255 entries, the last position names none: 0 is read there.
  const Tensor shorter = table.shrink({{0, 255}});
  CHECK(all(take(shorter, bytes, 0, Bounds::zero) == where(bytes == 255, 0, table)).item<bool>());
  CHECK_THROWS_WITH_AS((void)take(shorter, bytes).realize(),
                       doctest::Contains("take: index 255 is out of range for axis 0 of size 255"), IndexError);
  CHECK(all(take(table, arange(256).to(DType::uint16), 0, Bounds::zero) == table).item<bool>());
  const auto f = function([](Tensor t, Tensor i) { return take(t, i, 0, Bounds::zero); }, {.dynamic = Dynamic::yes});
  for (const std::int64_t n : {255, 256, 300}) {
    const Tensor t = arange(n) + 1;
    CHECK(all(f(t, bytes) == take(t, bytes, 0, Bounds::zero)).item<bool>());
  }
}

}  // namespace oriel::take_test
