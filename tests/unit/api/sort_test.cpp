// Sorting, compared with the standard library.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "oriel/oriel.hpp"

namespace sort_test {

using namespace oriel;

namespace {

using Doubles = std::vector<double>;
using Positions = std::vector<std::int64_t>;

bool not_a_number(double x) { return std::isnan(x); }
bool not_a_number(std::int64_t) { return false; }
bool not_a_number(std::uint64_t) { return false; }

// PyTorch's order: a NaN is larger than everything else and equal to other NaNs.
template <class T>
bool before(T a, T b, bool descending) {
  if (descending) std::swap(a, b);
  if (not_a_number(a) || not_a_number(b)) return !not_a_number(a);
  return a < b;
}

// The sorted positions along the middle axis of (outer, n, inner); the sort is stable.
template <class T>
Positions order(const std::vector<T>& x, std::int64_t outer, std::int64_t n, std::int64_t inner, bool descending) {
  Positions out(x.size());
  for (std::int64_t o = 0; o < outer; ++o) {
    for (std::int64_t i = 0; i < inner; ++i) {
      const auto at = [&](std::int64_t k) { return static_cast<std::size_t>((o * n + k) * inner + i); };
      Positions list(static_cast<std::size_t>(n));
      std::iota(list.begin(), list.end(), 0);
      std::stable_sort(list.begin(), list.end(), [&](std::int64_t a, std::int64_t b) {
        if (not_a_number(x[at(a)]) && not_a_number(x[at(b)])) return false;
        return before(x[at(a)], x[at(b)], descending);
      });
      for (std::int64_t k = 0; k < n; ++k) out[at(k)] = list[static_cast<std::size_t>(k)];
    }
  }
  return out;
}

template <class T>
std::vector<T> picked(const std::vector<T>& x, const Positions& positions, std::int64_t outer, std::int64_t n,
                      std::int64_t inner) {
  std::vector<T> out(x.size());
  for (std::int64_t o = 0; o < outer; ++o) {
    for (std::int64_t k = 0; k < n; ++k) {
      for (std::int64_t i = 0; i < inner; ++i) {
        const auto to = static_cast<std::size_t>((o * n + k) * inner + i);
        out[to] = x[static_cast<std::size_t>((o * n + positions[to]) * inner + i)];
      }
    }
  }
  return out;
}

bool same(const Doubles& a, const Doubles& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); });
}

Doubles values(const Tensor& x) { return x.to(DType::float64).to_vector<double>(); }

template <class T>
void check_typed(const std::vector<T>& x) {
  const auto n = static_cast<std::int64_t>(x.size());
  const Tensor t = Tensor::from(x, {n});
  for (const bool descending : {false, true}) {
    const Positions want = order(x, 1, n, 1, descending);
    CHECK(argsort(t, 0, descending).to_vector<std::int64_t>() == want);
    CHECK(sort(t, 0, descending).template to_vector<T>() == picked(x, want, 1, n, 1));
  }
}

}  // namespace

TEST_CASE("every dtype, many lengths and axes, with many equal elements") {
  std::mt19937 random(1);
  for (int d = 0; d < kDTypeCount; ++d) {
    const auto dtype = static_cast<DType>(d);
    for (const std::int64_t n : {1, 2, 3, 4, 7, 8, 9, 31, 33, 100, 257}) {
      INFO(name(dtype), " ", n);
      Doubles x(static_cast<std::size_t>(2 * n * 3));
      const bool plain = dtype == DType::bool_ || is_unsigned(dtype);
      std::uniform_int_distribution<int> number(plain ? 0 : -20, dtype == DType::bool_ ? 1 : 20);
      for (double& v : x) {
        v = number(random) * (is_floating(dtype) ? 0.25 : 1);
        if (is_floating(dtype)) {
          const auto odd = random() % 20;
          if (odd == 0) v = NAN;
          if (odd == 1) v = INFINITY;
          if (odd == 2) v = -INFINITY;
          if (odd == 3) v = -0.0;
          if (odd == 4) v = -NAN;
        }
      }
      const Tensor t = Tensor::from(x, {2, n, 3}).to(dtype);
      for (const bool descending : {false, true}) {
        const Positions want = order(x, 2, n, 3, descending);
        const Tensor positions = argsort(t, 1, descending);
        CHECK(positions.dtype() == DType::int64);
        CHECK(positions.to_vector<std::int64_t>() == want);
        const Tensor sorted = sort(t, -2, descending);
        CHECK(sorted.dtype() == dtype);
        CHECK(sorted.shape() == t.shape());
        CHECK(same(values(sorted), picked(x, want, 2, n, 3)));
      }
      const Tensor rows = Tensor::from(x, {6, n}).to(dtype);
      CHECK(argsort(rows).to_vector<std::int64_t>() == order(x, 6, n, 1, false));
      CHECK(same(values(sort(rows)), picked(x, order(x, 6, n, 1, false), 6, n, 1)));
    }
  }
}

TEST_CASE("the ends of the integers' ranges") {
  std::mt19937_64 random(2);
  std::vector<std::int64_t> wide{INT64_MIN, INT64_MAX, 0, -1, INT64_MAX, INT64_MIN, 1};
  std::vector<std::uint64_t> large{UINT64_MAX, 0, std::uint64_t{1} << 63, (std::uint64_t{1} << 63) - 1, UINT64_MAX, 1};
  std::vector<std::int32_t> middle{INT32_MIN, INT32_MAX, 0, INT32_MAX, -1, INT32_MIN};
  for (int k = 0; k < 120; ++k) {
    wide.push_back(static_cast<std::int64_t>(random()));
    large.push_back(random());
    middle.push_back(static_cast<std::int32_t>(random()));
  }
  check_typed(wide);
  check_typed(large);
  const auto n = static_cast<std::int64_t>(middle.size());
  const std::vector<std::int64_t> same_numbers(middle.begin(), middle.end());
  CHECK(argsort(Tensor::from(middle, {n})).to_vector<std::int64_t>() == order(same_numbers, 1, n, 1, false));
  std::vector<std::uint32_t> bits(middle.begin(), middle.end());
  const std::vector<std::int64_t> as_unsigned(bits.begin(), bits.end());
  CHECK(argsort(Tensor::from(bits, {n})).to_vector<std::int64_t>() == order(as_unsigned, 1, n, 1, false));
  std::sort(bits.begin(), bits.end());
  CHECK(sort(Tensor::from(std::vector<std::uint32_t>(middle.begin(), middle.end()), {n})).to_vector<std::uint32_t>() ==
        bits);
}

TEST_CASE("random floats, all bit patterns") {
  std::mt19937_64 random(3);
  Doubles x;
  std::vector<float> narrow;
  for (int k = 0; k < 1500; ++k) {
    x.push_back(std::bit_cast<double>(static_cast<std::uint64_t>(random())));
    narrow.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(random())));
  }
  const Doubles widened(narrow.begin(), narrow.end());
  const auto n = static_cast<std::int64_t>(x.size());
  for (const bool descending : {false, true}) {
    const Positions want = order(x, 1, n, 1, descending);
    CHECK(argsort(Tensor::from(x, {n}), 0, descending).to_vector<std::int64_t>() == want);
    CHECK(same(values(sort(Tensor::from(x, {n}), 0, descending)), picked(x, want, 1, n, 1)));
    const Positions wanted = order(widened, 1, n, 1, descending);
    CHECK(argsort(Tensor::from(narrow, {n}), 0, descending).to_vector<std::int64_t>() == wanted);
    CHECK(same(values(sort(Tensor::from(narrow, {n}), 0, descending)), picked(widened, wanted, 1, n, 1)));
  }
}

TEST_CASE("zeros: one number to argsort, the negative one first in what is sorted") {
  const Tensor x = Tensor::of<float>({0.0F, -0.0F, 0.0F, -0.0F});
  CHECK(argsort(x).to_vector<std::int64_t>() == Positions{0, 1, 2, 3});
  CHECK(argsort(x, 0, true).to_vector<std::int64_t>() == Positions{0, 1, 2, 3});
  const std::vector<float> up = sort(x).to_vector<float>();
  CHECK((std::signbit(up[0]) && std::signbit(up[1]) && !std::signbit(up[2]) && !std::signbit(up[3])));
}

TEST_CASE("small, empty and wrong axes") {
  CHECK(sort(Tensor::of<int>({3, 1, 2})).to_vector<int>() == std::vector<int>{1, 2, 3});
  CHECK(argsort(Tensor::of<int>({3, 1, 2})).to_vector<std::int64_t>() == Positions{1, 2, 0});
  CHECK(sort(zeros({2, 0})).shape() == Shape{2, 0});
  CHECK(argsort(zeros({0, 3}), 1).shape() == Shape{0, 3});
  CHECK(sort(scalar(2.5)).item<float>() == 2.5F);
  CHECK(argsort(scalar(2.5), 0).item<std::int64_t>() == 0);
  CHECK(argsort(scalar(2.5)).shape() == Shape{});
  CHECK(sort(zeros({4, 1}), 1).to_vector<float>() == std::vector<float>(4, 0));
  CHECK_THROWS_WITH_AS(sort(zeros({2, 3}), 2), "sort: axis 2 of a tensor with 2 axes; give one of -2 to 1", ShapeError);
  CHECK_THROWS_AS(argsort(scalar(1), 1), ShapeError);
  CHECK_THROWS_AS(sort(zeros({(std::int64_t{1} << 62) + 1})), OverflowError);
}

TEST_CASE("a sorted tensor is sorted through any view") {
  std::mt19937 random(4);
  std::vector<int> x(24);
  for (int& v : x) v = static_cast<int>(random() % 10);
  const Tensor t = Tensor::from(x, {4, 6});
  const Tensor turned = t.transpose().flip(1);
  CHECK(sort(turned, 0).to_vector<int>() == sort(turned + 0, 0).to_vector<int>());
  CHECK(sort(t, 1).to_vector<int>() == sort(t.transpose(), 0).transpose().to_vector<int>());
  // As in PyTorch, the result has the operand's strides, or dense strides in the same order of axes.
  for (const bool descending : {false, true}) {
    CHECK(sort(t, 1, descending).strides() == Ints{6, 1});
    CHECK(sort(turned.flip(1), 0, descending).strides() == Ints{1, 6});
    CHECK(argsort(t.transpose(), 1, descending).realize().strides() == Ints{1, 6});
    CHECK(sort(t.shrink({{0, 4}, {0, 5}}), 1, descending).strides() == Ints{5, 1});
    CHECK(sort(t.shrink({{0, 1}, {0, 6}}).expand({3, 6}), 0, descending).strides() == Ints{6, 1});
    CHECK(argsort(t.shrink({{0, 4}, {0, 1}}), 1, descending).strides() == Ints{1, 1});
  }
  std::vector<int> all = x;
  std::sort(all.begin(), all.end());
  CHECK(sort(t.reshape({24})).to_vector<int>() == all);
}

TEST_CASE("a sort is a kernel of its own, between those of its source and of its readers") {
  const Tensor x = Tensor::of<float>({{3, 1, 2}, {6, 5, 4}});
  const Tensor y = sort(x * 2, 1) + 1;
  const Explanation e = explain(y);
  REQUIRE(e.kernels.size() == 3);
  CHECK(e.kernels[0].outputs[0].reason == "it is sorted");
  CHECK(e.kernels[1].name == "sort_f32_2_by_3");
  CHECK(e.kernels[1].method == "network: 16 rows side by side");
#ifdef ORIEL_NO_COMPILED
  CHECK(e.kernels[1].tier == "tile machine, as set");
#else
  CHECK(e.kernels[1].tier == "tile machine only: it sorts, which is no loop of instructions");
#endif
  CHECK(e.kernels[1].outputs[0].reason == "a sort is a kernel of its own");
  // An operand in memory is sorted directly from there, and both readers share one sort.
  const Tensor s = sort(x, 1);
  CHECK(explain({s + 1, sum(s)}).kernels.size() == 3);
  CHECK(explain(argsort(x)).kernels.size() == 1);
  CHECK(explain(argsort(x)).kernels[0].name == "argsort_i64_2_by_3");
}

TEST_CASE("sorting in place, along either axis, of a part and of what is not row-major") {
  Tensor x = Tensor::of<int>({{3, 1, 2}, {6, 9, 4}, {0, 8, 7}});
  const Tensor before = x + 0;
  x.assign(sort(x, 1));
  CHECK(x.to_vector<int>() == std::vector<int>{1, 2, 3, 4, 6, 9, 0, 7, 8});
  x.assign(sort(x, 0, true));
  CHECK(x.to_vector<int>() == std::vector<int>{4, 7, 9, 1, 6, 8, 0, 2, 3});
  x.select(0, 0).assign(sort(x.select(1, 0)));
  CHECK(x.to_vector<int>() == std::vector<int>{0, 1, 4, 1, 6, 8, 0, 2, 3});
  CHECK(before.to_vector<int>() == std::vector<int>{3, 1, 2, 6, 9, 4, 0, 8, 7});
  const Tensor image = (iota({2, 3, 4, 5}) * 37 % 101).to(MemoryFormat::channels_last).realize();
  const Tensor plain = image.contiguous().realize();
  for (const std::int64_t axis : {0, 1, 2, 3}) {
    CHECK(sort(image, axis).to_vector<std::int64_t>() == sort(plain, axis).to_vector<std::int64_t>());
    CHECK(argsort(image, axis, true).to_vector<std::int64_t>() == argsort(plain, axis, true).to_vector<std::int64_t>());
    CHECK(sort(image, axis).is_contiguous(MemoryFormat::channels_last));
  }
}

TEST_CASE("numbers and positions are sorted too, and what is sorted again stays") {
  CHECK(sort(full({4}, 2.5F)).to_vector<float>() == std::vector<float>(4, 2.5F));
  CHECK(argsort(full({4}, 2.5F), 0, true).to_vector<std::int64_t>() == Positions{0, 1, 2, 3});
  CHECK(sort(arange(5), 0, true).to_vector<std::int64_t>() == Positions{4, 3, 2, 1, 0});
  const Tensor x = Tensor::of<int>({4, 2, 9, 2});
  CHECK(sort(sort(x), 0, true).to_vector<int>() == std::vector<int>{9, 4, 2, 2});
  CHECK(argsort(argsort(x)).to_vector<std::int64_t>() == Positions{2, 0, 3, 1});  // the ranks
}

TEST_CASE("long rows and a tensor of one long row, against the positions that order them") {
  std::mt19937 random(9);
  std::vector<float> x(100'000);
  for (float& v : x) v = static_cast<float>(random() % 5000) - 2500.5F;
  const Tensor flat = Tensor::from(x, {100'000});
  std::vector<float> want = x;
  std::sort(want.begin(), want.end());
  CHECK(sort(flat).to_vector<float>() == want);
  CHECK(argsort(flat).to_vector<std::int64_t>() == order(Doubles(x.begin(), x.end()), 1, 100'000, 1, false));
  const Tensor rows = Tensor::from(x, {20, 5000});
  CHECK(argsort(rows, 1, true).to_vector<std::int64_t>() == order(Doubles(x.begin(), x.end()), 20, 5000, 1, true));
}

}  // namespace sort_test
