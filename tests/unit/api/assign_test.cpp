// Writes: which tensors see them, and which are refused.
#include <doctest/doctest.h>

#include <limits>

#include "oriel/oriel.hpp"

namespace assign_test {

using namespace oriel;
using Floats = std::vector<float>;

namespace {
Tensor numbers(const Shape& shape) { return iota(shape).to(DType::float32); }
Floats values(const Tensor& x) { return x.to_vector<float>(); }
}  // namespace

TEST_CASE("what was built before a write sees the old elements, what is built after it the new ones") {
  Tensor x = Tensor::of<float>({1, 2, 3});
  const Tensor before = x * 2;
  const Tensor total = sum(x);
  x.assign(Tensor::of<float>({10, 20, 30}));
  const Tensor after = x * 2;
  CHECK(values(after) == Floats{20, 40, 60});
  CHECK(values(before) == Floats{2, 4, 6});
  CHECK(total.item<float>() == 6);
  CHECK(values(x) == Floats{10, 20, 30});
}

TEST_CASE("a write through a view reaches the storage, its copies and its other views") {
  Tensor x = numbers({2, 3});
  const Tensor copy = x;
  const Tensor row = x.select(0, 1);
  const Tensor turned = x.transpose();
  x.shrink({{0, 2}, {1, 3}}).assign(Tensor::of<float>({{-1, -2}, {-3, -4}}));
  CHECK(values(x) == Floats{0, -1, -2, 3, -3, -4});
  CHECK(values(copy) == values(x));
  CHECK(values(row) == Floats{3, -3, -4});
  CHECK(values(turned) == Floats{0, 3, -1, -3, -2, -4});
  x += 1;
  CHECK(values(row) == Floats{4, -2, -3});
}

TEST_CASE("results that are no views have elements of their own") {
  Tensor x = numbers({4});
  Tensor same = +x;
  Tensor padded = pad(x, {{1, 0}});
  Tensor rolled = roll(x, 0, 0);
  Tensor cast_ = x.to(DType::float32);
  same += 1;
  padded += 1;
  rolled += 1;
  cast_ += 1;
  CHECK(values(x) == Floats{0, 1, 2, 3});
  CHECK(values(padded) == Floats{1, 1, 2, 3, 4});
  x.assign(7);
  CHECK(values(same) == Floats{1, 2, 3, 4});
  CHECK(values(cast_) == Floats{1, 2, 3, 4});
}

TEST_CASE("every kind of view can be written through") {
  const auto after = [](const Shape& shape, auto&& view) {
    Tensor x = numbers(shape);
    Tensor place = view(x);
    place.assign(numbers(place.shape()) + 100);
    CHECK(values(place) == values(numbers(place.shape()) + 100));
    return values(x);
  };
  CHECK(after({4}, [](const Tensor& x) { return x.flip(); }) == Floats{103, 102, 101, 100});
  CHECK(after({2, 2}, [](const Tensor& x) { return x.transpose(); }) == Floats{100, 102, 101, 103});
  CHECK(after({2, 3}, [](const Tensor& x) {
          return x.permute({1, 0}).reshape({6});
        }) == Floats{100, 102, 104, 101, 103, 105});
  CHECK(after({2, 3}, [](const Tensor& x) {
          return x.transpose().reshape({2, 3}).flip(1).select(0, 1);
        }) == Floats{0, 1, 101, 3, 102, 100});
  CHECK(after({6}, [](const Tensor& x) { return x.slice({{.start = 5, .step = -2}}); }) ==
        Floats{0, 102, 2, 101, 4, 100});
  CHECK(after({3, 3}, [](const Tensor& x) { return diagonal(x); }) == Floats{100, 1, 2, 3, 101, 5, 6, 7, 102});
  CHECK(after({4}, [](const Tensor& x) { return unfold(x, 0, 2, 2); }) == Floats{100, 101, 102, 103});
  CHECK(after({2}, [](const Tensor& x) { return x.unsqueeze(0).expand({1, 2}).squeeze(); }) == Floats{100, 101});
}

TEST_CASE("overlapping parts of one storage in one statement") {
  Tensor x = numbers({6});
  x.shrink({{1, 6}}).assign(x.shrink({{0, 5}}));
  CHECK(values(x) == Floats{0, 0, 1, 2, 3, 4});
  x.shrink({{0, 5}}).assign(x.shrink({{1, 6}}));
  CHECK(values(x) == Floats{0, 1, 2, 3, 4, 4});
  x.assign(x.flip());
  CHECK(values(x) == Floats{4, 4, 3, 2, 1, 0});
  x.shrink({{0, 3}}) += x.shrink({{3, 6}});
  CHECK(values(x) == Floats{6, 5, 3, 2, 1, 0});
  Tensor m = numbers({3, 3});
  m.assign(m.transpose());
  CHECK(values(m) == Floats{0, 3, 6, 1, 4, 7, 2, 5, 8});
  m += m.transpose();
  CHECK(values(m) == Floats{0, 4, 8, 4, 8, 12, 8, 12, 16});
  Tensor a = Tensor::of<float>({1, 2}), b = Tensor::of<float>({3, 4});
  const Tensor old = +a;
  a.assign(b);
  b.assign(old);
  realize({a, b});
  CHECK(values(a) == Floats{3, 4});
  CHECK(values(b) == Floats{1, 2});
}

TEST_CASE("values are broadcast and converted within what the in-place operators convert") {
  Tensor x = zeros({2, 3}, DType::int8);
  x.assign(Tensor::of<int>({1, -2, 300}));  // narrower integers wrap
  CHECK(x.to(DType::int32).to_vector<int>() == std::vector<int>{1, -2, 44, 1, -2, 44});
  x.assign(true);
  CHECK(x.to(DType::int32).to_vector<int>() == std::vector<int>(6, 1));
  x.select(1, 0).assign(7.0);  // a number that int8 holds
  CHECK(x.to(DType::int32).to_vector<int>() == std::vector<int>{7, 1, 1, 7, 1, 1});
  Tensor f = zeros({2}, DType::float16);
  f.assign(0.1);
  f.select(0, 0).assign(scalar(3, DType::int64));
  CHECK(f.to(DType::float32).to_vector<float>() == std::vector<float>{3, 0.0999755859375F});
  Tensor b = zeros({2}, DType::bool_);
  b.assign(1);
  CHECK(b.to_vector<bool>() == std::vector<bool>{true, true});
  Tensor largest = zeros({1}, DType::uint64);
  largest.assign(0x1p63);
  CHECK(largest.to_vector<std::uint64_t>()[0] == std::uint64_t(1) << 63);
}

TEST_CASE("what would lose more is refused, by assign as by the in-place operators") {
  Tensor z = Tensor::of<std::int64_t>({1, 2}), b = zeros({2}, DType::bool_);
  CHECK_THROWS_AS(z += 0.5, DTypeError);
  CHECK_THROWS_WITH_AS(z.assign(z * 0.5),
                       "assign: the value is float32 and is not kept in int64; convert it first, with to(DType::int64)",
                       DTypeError);
  CHECK_THROWS_WITH_AS(z.assign(0.5), "assign: 0.5 does not fit int64; give a number that it holds", ArgumentError);
  CHECK_THROWS_AS(z.assign(std::numeric_limits<double>::quiet_NaN()), ArgumentError);
  CHECK_THROWS_AS(z.assign(0x1p63), ArgumentError);
  CHECK_THROWS_AS(z.assign(-0x1p64), ArgumentError);
  CHECK_THROWS_WITH_AS(b.assign(z),
                       "assign: the value is int64 and is not kept in bool; convert it first, with to(DType::bool_)",
                       DTypeError);
  CHECK_THROWS_WITH_AS(b.assign(2), "assign: 2 does not fit bool; give a number that it holds", ArgumentError);
  Tensor small = zeros({2}, DType::int8);
  CHECK_THROWS_AS(small.assign(1000), ArgumentError);
  z.assign((z * 1.5).to(DType::int64));
  CHECK(z.to_vector<std::int64_t>() == std::vector<std::int64_t>{1, 3});
}

TEST_CASE("refused") {
  Tensor x = numbers({2, 3});
  CHECK_THROWS_WITH_AS(x.unsqueeze(0).expand({4, 2, 3}).assign(0),
                       "assign: (4, 2, 3) of a tensor of (2, 3) cannot be written: indices (0, 0, 0) and (1, 0, 0) "
                       "stand for one element; write a view that holds each element once",
                       ShapeError);
  CHECK_THROWS_AS(unfold(x, 1, 2, 1) += 1, ShapeError);
  Tensor large = zeros({1000, 1}).expand({1000, 1001}).transpose().reshape({-1});
  CHECK_THROWS_AS(large.shrink({{0, 100'000}}).assign(1), ShapeError);
  CHECK_THROWS_AS(x.assign(numbers({4})), ShapeError);
  CHECK_THROWS_AS(x.select(0, 0).assign(x), ShapeError);
  CHECK_THROWS_WITH_AS(x.select(0, 0) += x,
                       "add: the result has shape (2, 3) and is put into (3); only the other operand is broadcast",
                       ShapeError);
  Tensor i = Tensor::of<int>({1, 2});
  CHECK_THROWS_WITH_AS(
      i /= 2, "div: the result is float32 and cannot be kept in int32; write x = x op y, or cast first", DTypeError);
  CHECK(values(x) == Floats{0, 1, 2, 3, 4, 5});
  CHECK(i.to_vector<int>() == std::vector<int>{1, 2});
  set_default_device(Device::null());
  const Tensor elsewhere = numbers({2, 3});
  set_default_device(Device::eigen());
  CHECK_THROWS_AS(x.assign(elsewhere.realize()), DeviceError);
}

TEST_CASE("a write keeps the tensor on its device, whatever its elements are made of") {
  set_default_device(Device::null());
  const Tensor elsewhere = numbers({2, 3}), number = full({2, 3}, 2.5), counted = iota({2, 3});
  set_default_device(Device::eigen());
  // Neither the zeros nor the new value has a buffer yet, so no buffer says on which device the tensor lies.
  Tensor x = zeros({2, 3});
  CHECK_THROWS_WITH_AS(
      x.assign(elsewhere),
      "assign: the value lives on null and is written to float32 (2, 3) on eigen; copy it with to(Device)",
      DeviceError);
  CHECK_THROWS_AS(x.shrink({{0, 1}, {0, 3}}).assign(elsewhere.shrink({{0, 1}, {0, 3}})), DeviceError);
  CHECK_THROWS_AS(x += elsewhere, DeviceError);
  CHECK(values(x) == Floats(6, 0));
  x.assign(number);
  CHECK(values(x) == Floats(6, 2.5F));
  Tensor i = zeros({2, 3}, DType::int64);
  i.assign(counted);
  CHECK(i.to_vector<std::int64_t>() == std::vector<std::int64_t>{0, 1, 2, 3, 4, 5});
}

TEST_CASE("nothing to write, and one element") {
  Tensor x = numbers({2, 3});
  x.shrink({{0, 0}, {0, 3}}).assign(5);
  Tensor none = zeros({0}), made;
  none.assign(1);
  made.assign(3);
  CHECK(values(x) == Floats{0, 1, 2, 3, 4, 5});
  Tensor s = scalar(2.5);
  s *= 4;
  s.assign(s + s);
  CHECK(s.item<float>() == 20);
}

TEST_CASE("lent memory is only read; the writer moves to memory of its own") {
  const Floats data{1, 2, 3, 4};
  Tensor x = Tensor::borrow(data, {4});
  x.shrink({{0, 2}}).assign(9);
  x += 1;
  CHECK(values(x) == Floats{10, 10, 4, 5});
  CHECK(data == Floats{1, 2, 3, 4});
}

TEST_CASE("a loop of writes stays flat") {
  Tensor x = zeros({8});
  Tensor part = x.shrink({{2, 5}});
  for (int k = 0; k < 20'000; ++k) {
    part += 1;
    if (k % 2 == 0) x -= 1;
  }
  CHECK(values(x)[0] == -10'000);
  CHECK(values(x)[3] == 10'000);
  Tensor turned = numbers({2, 3});
  for (int k = 0; k < 20'001; ++k) turned = turned.transpose();
  turned.select(0, 0).assign(7);
  CHECK(values(turned) == Floats{7, 7, 1, 4, 2, 5});
}

}  // namespace assign_test
