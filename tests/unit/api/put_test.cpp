// Writing at positions that are data: masked_fill, put, put_add, and their in-place forms.
#include <doctest/doctest.h>

#include <numeric>
#include <random>

#include "oriel/oriel.hpp"
#include "support/unchecked_positions.hpp"

namespace put_test {

using namespace oriel;
using Ints32 = std::vector<int>;

namespace {

Ints32 values(const Tensor& x) { return x.to(DType::int32).to_vector<int>(); }
Tensor numbers(const Shape& shape) { return iota(shape).to(DType::int32); }

// Plain loops over axis 1 of (a, n, b).
Ints32 by_loops(Ints32 x, const Ints32& index, const Ints32& given, int a, int n, int b, bool add) {
  const int k = static_cast<int>(index.size());
  for (int i = 0; i < a; ++i)
    for (int j = 0; j < k; ++j)
      for (int c = 0; c < b; ++c) {
        const int at = index[static_cast<std::size_t>(j)] < 0 ? index[static_cast<std::size_t>(j)] + n
                                                              : index[static_cast<std::size_t>(j)];
        if (at < 0 || at >= n) continue;
        int& to = x[static_cast<std::size_t>((i * n + at) * b + c)];
        const int from = given[static_cast<std::size_t>((i * k + j) * b + c)];
        to = add ? to + from : from;
      }
  return x;
}

void check_against_loops(int a, int n, int b, int k, std::uint32_t seed) {
  std::mt19937 random(seed);
  const auto drawn = [&](int count, int low, int high) {
    Ints32 out(static_cast<std::size_t>(count));
    for (int& v : out) v = low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1));
    return out;
  };
  const Ints32 x = drawn(a * n * b, -9, 9), index = drawn(k, -n - 1, n), given = drawn(a * k * b, -9, 9);
  const Tensor tx = Tensor::from(x, {a, n, b}), ti = Tensor::from(index, {k}), tv = Tensor::from(given, {a, k, b});
  CAPTURE(n);
  CAPTURE(k);
  const test::UncheckedPositions unchecked;
  CHECK(values(put(tx, ti, tv, 1)) == by_loops(x, index, given, a, n, b, false));
  CHECK(values(put_add(tx, ti, tv, 1)) == by_loops(x, index, given, a, n, b, true));
}

}  // namespace

TEST_CASE("masked_fill keeps the dtype and shape of its tensor") {
  Tensor x = numbers({2, 3});
  CHECK(values(masked_fill(x, x > 2, 0)) == Ints32{0, 1, 2, 0, 0, 0});
  CHECK(values(masked_fill(x, Tensor::of<bool>({true, false, true}), Tensor::of<int>({{7}, {8}}))) ==
        Ints32{7, 1, 7, 8, 4, 8});
  CHECK(masked_fill(x, x > 2, 2.0).dtype() == DType::int32);
  CHECK_THROWS_WITH_AS(masked_fill(x, x, 0), "masked_fill: the mask is int32; it must be bool, such as x != 0",
                       DTypeError);
  CHECK_THROWS_AS(masked_fill(x, x > 2, 0.5), ArgumentError);
  CHECK_THROWS_AS(masked_fill(x, x > 2, scalar(0.5)), DTypeError);
  CHECK_THROWS_AS(masked_fill(x, ones({4, 2, 3}) > 0, 0), ShapeError);
  x.assign_where(x % 2 == 0, -1);
  CHECK(values(x) == Ints32{-1, 1, -1, 3, -1, 5});
  x[1].assign_where(x[1] > 0, x[0]);
  CHECK(values(x) == Ints32{-1, 1, -1, -1, -1, -1});
}

TEST_CASE("put is the inverse of take; of equal positions the last counts, and put_add adds all") {
  const Tensor x = zeros(4, DType::int32), index = Tensor::of<int>({1, -1, 1});
  CHECK(values(put(x, index, Tensor::of<int>({5, 6, 7}))) == Ints32{0, 7, 0, 6});
  CHECK(values(put_add(x, index, Tensor::of<int>({5, 6, 7}))) == Ints32{0, 12, 0, 6});
  CHECK(values(put_add(x, index, 1)) == Ints32{0, 2, 0, 1});
  const Tensor m = numbers({3, 4});
  const Tensor rows = Tensor::of<int>({2, 0});
  CHECK(values(put(m, rows, take(m, rows))) == values(m));
  CHECK(values(put(m, rows, -1)) == Ints32{-1, -1, -1, -1, 4, 5, 6, 7, -1, -1, -1, -1});
  CHECK(values(put(m, rows, Tensor::of<int>({{1}, {2}, {3}}), 1)) == Ints32{1, 1, 1, 3, 2, 5, 2, 7, 3, 9, 3, 11});
  // An index of several axes, and of none.
  CHECK(values(put(x, Tensor::of<int>({{0, 1}, {3, 0}}), Tensor::of<int>({{1, 2}, {3, 4}}))) == Ints32{4, 2, 0, 3});
  CHECK(values(put(x, scalar(2, DType::int64), 9)) == Ints32{0, 0, 9, 0});
  // Nothing to write, and nowhere.
  CHECK(values(put(x, zeros(0, DType::int64), 9)) == Ints32{0, 0, 0, 0});
  CHECK(values(put_add(x, Tensor::of<int>({4, -5}), 9, 0, Bounds::zero)) == Ints32{0, 0, 0, 0});
  CHECK(put(zeros(0), index, 1, 0, Bounds::zero).numel() == 0);
}

TEST_CASE("random positions, by comparing pairs and by sorting") {
  for (std::uint32_t seed = 0; seed < 12; ++seed)
    check_against_loops(1 + static_cast<int>(seed % 3), 1 + static_cast<int>(seed), 2, static_cast<int>(seed * 3),
                        seed);
  check_against_loops(1, 3000, 1, 2000, 1);   // sorted
  check_against_loops(2, 50, 3, 30'000, 2);   // many of each
  check_against_loops(1, 30'000, 2, 100, 3);  // few
  check_against_loops(1, 1, 1, 3'000'000, 4);
}

TEST_CASE("sums of floats are the same in every run, halves are added in float32") {
  const Tensor index = remainder(arange(5000) * 7, 900);
  const Tensor values = sin(arange(5000).to(DType::float32));
  const Tensor a = put_add(zeros(900), index, values), b = put_add(zeros(900), index, values);
  CHECK(a.to_vector<float>() == b.to_vector<float>());
  CHECK(bool(allclose(a.sum(), values.sum(), 1e-3, 1e-4)));
  const Tensor half = put_add(zeros(1, DType::float16), zeros(3000, DType::int64), 1);
  CHECK(half.to(DType::float32).item<float>() == 3000);
}

TEST_CASE("in place, also through views") {
  Tensor x = numbers({2, 3});
  const Tensor before = x + 0;
  x.assign_at(Tensor::of<int>({1}), 0);
  CHECK(values(x) == Ints32{0, 1, 2, 0, 0, 0});
  x.transpose().add_at(Tensor::of<int>({0, 2, 2}), 10);
  CHECK(values(x) == Ints32{10, 1, 22, 10, 0, 20});
  x[0].assign_at(Tensor::of<int>({-1}), 5);
  CHECK(values(x) == Ints32{10, 1, 5, 10, 0, 20});
  CHECK(values(before) == Ints32{0, 1, 2, 3, 4, 5});
}

TEST_CASE("members take bounds, and check where they are told none") {
  Tensor x = numbers({4});
  const Tensor index = Tensor::of<int>({1, 9});
  CHECK(values(x.put(index, 7, 0, Bounds::zero)) == Ints32{0, 7, 2, 3});
  CHECK(values(x.put_add(index, 7, 0, Bounds::zero)) == Ints32{0, 8, 2, 3});
  x.assign_at(index, 5, 0, Bounds::zero);
  CHECK(values(x) == Ints32{0, 5, 2, 3});
  x.flip(0).add_at(index, 1, 0, Bounds::zero);
  CHECK(values(x) == Ints32{0, 5, 3, 3});
  const auto refused = doctest::Contains("index 9 is out of range for axis 0 of size 4; valid are -4 to 3");
  Tensor assigned = numbers({4}), added = numbers({4});
  // By the call where it sees the positions, else by the work.
  CHECK_THROWS_WITH_AS(x.put(index, 7).realize(), refused, IndexError);
  CHECK_THROWS_WITH_AS(x.put_add(index, 7).realize(), refused, IndexError);
  CHECK_THROWS_WITH_AS(assigned.assign_at(index, 7).realize(), doctest::Contains("assign_at: index 9 is"), IndexError);
  CHECK_THROWS_WITH_AS(added.add_at(index, 7).realize(), doctest::Contains("add_at: index 9 is"), IndexError);
  CHECK(values(x) == Ints32{0, 5, 3, 3});
}

TEST_CASE("refused") {
  const Tensor x = zeros(4, DType::int32), index = Tensor::of<int>({0, 1});
  CHECK_THROWS_AS(put(x, index, 0.5), ArgumentError);
  CHECK_THROWS_AS(put(x, index, zeros(2)), DTypeError);
  CHECK_THROWS_AS(put(x, index, numbers({3})), ShapeError);
  CHECK_THROWS_AS(put(x, zeros(2), 1), DTypeError);
  CHECK_THROWS_AS(put(x, index, 1, 1), ShapeError);
  CHECK_THROWS_AS(put_add(x > 0, index, 1), DTypeError);
  CHECK_THROWS_AS(put(x, Tensor::of<int>({4}), 1).realize(), IndexError);  // a device's memory is read by the work
}

TEST_CASE("in captured functions, at symbolic sizes and counts that depend on data") {
  const auto f = capture([](Tensor x, Tensor index) { return put_add(x, index, 1); }, {.dynamic = Dynamic::yes});
  CHECK(values(f(zeros(4), Tensor::of<int>({1, 1, 2}))) == Ints32{0, 2, 1, 0});
  CHECK(values(f(zeros(5), Tensor::of<int>({4, 4}))) == Ints32{0, 0, 0, 0, 2});
  CHECK(f.counts().traces == 1);
  const auto g = capture([](Tensor x) {
    const Tensor found = nonzero(x > 2).reshape(-1);
    return put(x, found, -1);
  });
  CHECK(values(g(Tensor::of<int>({1, 5, 3}))) == Ints32{1, -1, -1});
  CHECK(values(g(Tensor::of<int>({1, 2, 2}))) == Ints32{1, 2, 2});
}

}  // namespace put_test
