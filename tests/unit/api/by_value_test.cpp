// Positions, sets and histograms compare numbers of different dtypes by their values, never rounded to a common dtype.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "oriel/oriel.hpp"

namespace by_value_test {

using namespace oriel;

namespace {

using Ints64 = std::vector<std::int64_t>;
using Bools = std::vector<bool>;

constexpr std::int64_t k24 = std::int64_t{1} << 24, k53 = std::int64_t{1} << 53;
constexpr std::uint64_t k63 = std::uint64_t{1} << 63;

Ints64 positions(const Tensor& x) { return x.to_vector<std::int64_t>(); }
Bools bools(const Tensor& x) { return x.to_vector<bool>(); }

constexpr DType kDTypes[] = {DType::bool_,    DType::int8,    DType::uint8,  DType::int16,  DType::uint16,
                             DType::int32,    DType::uint32,  DType::int64,  DType::uint64, DType::float16,
                             DType::bfloat16, DType::float32, DType::float64};

/// Numbers at which dtypes end or become coarse, in ascending order, that the dtype holds.
std::vector<long double> numbers(DType dtype) {
  std::vector<long double> all{0,       0.5L,        1,           1.5L,          255,      256,         257,
                               65504,   16777216,    16777217,    2147483648.0L, 0x1p53L,  0x1p53L + 1, 0x1p63L - 1,
                               0x1p63L, 0x1p63L + 1, 0x1p64L - 1, 0x1p64L,       HUGE_VALL};
  for (std::size_t k = all.size(); k-- > 1;) all.push_back(-all[k]);
  std::sort(all.begin(), all.end());
  std::vector<long double> kept;
  for (const long double x : all) {
    bool held = false;
    if (is_floating(dtype)) {
      const auto d = static_cast<double>(x);
      const double back = scalar(d, DType::float64).to(dtype).to(DType::float64).item<double>();
      held = static_cast<long double>(d) == x && back == d;
    } else if (dtype == DType::bool_) {
      held = x == 0 || x == 1;
    } else {
      const int bits = static_cast<int>(itemsize(dtype)) * 8 - (is_unsigned(dtype) ? 0 : 1);
      const long double end = std::ldexp(1.0L, bits);
      held = x == std::floor(x) && x < end && x >= (is_unsigned(dtype) ? 0.0L : -end);
    }
    if (held) kept.push_back(x);
  }
  return kept;
}

Tensor tensor(const std::vector<long double>& x, DType dtype) {
  const auto n = static_cast<std::int64_t>(x.size());
  if (dtype == DType::uint64) {
    std::vector<std::uint64_t> v;
    for (const long double e : x) v.push_back(static_cast<std::uint64_t>(e));
    return Tensor::from(v, {n});
  }
  if (is_floating(dtype)) {
    std::vector<double> v;
    for (const long double e : x) v.push_back(static_cast<double>(e));
    return Tensor::from(v, {n}).to(dtype);
  }
  Ints64 v;
  for (const long double e : x) v.push_back(static_cast<std::int64_t>(e));
  return Tensor::from(v, {n}).to(dtype);
}

}  // namespace

TEST_CASE("integers beyond the digits of floats are told apart") {
  const Tensor large = Tensor::of<std::uint64_t>({k24, k24 + 1});
  CHECK(positions(searchsorted(large, Tensor::of<std::int64_t>({k24 + 1}))) == Ints64{1});
  CHECK(positions(searchsorted(large, Tensor::of<std::int64_t>({k24 + 1, -1, k24}), true)) == Ints64{2, 0, 1});
  CHECK(positions(bucketize(Tensor::of<std::int64_t>({k24 + 1}), large)) == Ints64{1});
  CHECK(bools(isin(Tensor::of<std::int64_t>({k24 + 1, k24, -1}), Tensor::of<std::uint64_t>({k24}))) ==
        Bools{false, true, false});
  CHECK(bools(isin(Tensor::of<std::int64_t>({k53 + 1}), Tensor::of<double>({0x1p53}))) == Bools{false});
  CHECK(bools(isin(Tensor::of<int>({k24 + 1}), Tensor::of<float>({0x1p24F}))) == Bools{false});
  const Tensor whole = Tensor::of<std::int64_t>({k53, k53 + 1});
#ifndef ORIEL_NO_HISTOGRAMS
  CHECK(positions(histogram(whole, Tensor::of<std::int64_t>({k53, k53 + 1, k53 + 2})).counts) == Ints64{1, 1});
  CHECK(positions(histogram(whole, Tensor::of<std::int64_t>({k53 - 1, k53, k53 + 1})).counts) == Ints64{0, 2});
  CHECK(positions(histogram(whole, Tensor::of<double>({0x1p53 - 1, 0x1p53})).counts) == Ints64{1});
  CHECK(positions(histogram(Tensor::of<std::uint64_t>({k63, k63 + 1}), Tensor::of<std::uint64_t>({0, k63, k63 + 1}))
                      .counts) == Ints64{0, 2});
  // Widths of integers are exact too.
  const Histogram density = histogram(whole, Tensor::of<std::int64_t>({k53 - 1, k53, k53 + 1}), {.density = true});
  CHECK(density.counts.to_vector<double>() == std::vector<double>{0, 1});
#endif
}

TEST_CASE("positions and sets of every two dtypes") {
  for (const DType a : kDTypes) {
    const std::vector<long double> sorted = numbers(a);
    const Tensor x = tensor(sorted, a);
    for (const DType b : kDTypes) {
      const std::vector<long double> wanted = numbers(b);
      const Tensor y = tensor(wanted, b);
      Ints64 left, right;
      Bools among;
      for (const long double v : wanted) {
        const auto first = std::lower_bound(sorted.begin(), sorted.end(), v);
        const auto last = std::upper_bound(sorted.begin(), sorted.end(), v);
        left.push_back(first - sorted.begin());
        right.push_back(last - sorted.begin());
        among.push_back(first != last);
      }
      INFO(name(a), " ", name(b));
      CHECK(positions(searchsorted(x, y)) == left);
      CHECK(positions(searchsorted(x, y, true)) == right);
      CHECK(bools(isin(y, x)) == among);
    }
  }
}

TEST_CASE("NaN stand behind all numbers of another dtype") {
  const Tensor nan = Tensor::of<float>({NAN, 1});
  const Tensor whole = Tensor::of<std::int64_t>({0, 1, k53 + 1});
  CHECK(positions(searchsorted(whole, nan)) == Ints64{3, 1});
  CHECK(positions(searchsorted(whole, nan, true)) == Ints64{3, 2});
  CHECK(positions(searchsorted(Tensor::of<float>({1, NAN, NAN}), Tensor::of<std::int64_t>({1, k53}), true)) ==
        Ints64{1, 1});
  CHECK(bools(isin(nan, whole)) == Bools{false, true});
  CHECK(bools(isin(whole, nan)) == Bools{false, true, false});
#ifndef ORIEL_NO_HISTOGRAMS
  CHECK(positions(histogram(nan, whole).counts) == Ints64{0, 1});
#endif
}

TEST_CASE("numbers beside tensors") {
  const Tensor bytes = Tensor::of<std::int8_t>({1, 2, 3});
  CHECK(positions(searchsorted(bytes, 1000)) == Ints64{3});
  CHECK(positions(searchsorted(bytes, -1000)) == Ints64{0});
  CHECK(positions(searchsorted(bytes, 2.5)) == Ints64{2});
  CHECK(positions(searchsorted(bytes, 2.0, true)) == Ints64{2});
  CHECK(positions(searchsorted(Tensor::of<std::uint64_t>({k63, k63 + 1}), k63 + 1)) == Ints64{1});
  CHECK(positions(searchsorted(Tensor::of<std::uint64_t>({1, k63}), -1)) == Ints64{0});
  CHECK(positions(searchsorted(Tensor::of<float>({0x1p24F, 0x1p24F + 2}), k24 + 1)) == Ints64{1});
  // A float takes the dtype of floats beside it.
  CHECK(bools(isin(0.1, Tensor::of<float>({0.1F}))) == Bools{true});
  CHECK(bools(isin(k53 + 1, Tensor::of<double>({0x1p53}))) == Bools{false});
  CHECK(bools(isin(true, Tensor::of<int>({1}))) == Bools{true});
  // A tensor without axes counts as it is.
  CHECK(bools(isin(scalar(0.1, DType::float64), Tensor::of<float>({0.1F}))) == Bools{false});
}

TEST_CASE("positions in captured functions") {
  auto f = function([](Tensor x, Tensor y) { return searchsorted(x, y); });
  const Tensor large = Tensor::of<std::uint64_t>({k24, k24 + 1});
  for (int k = 0; k < 2; ++k) CHECK(positions(f(large, Tensor::of<std::int64_t>({k24 + 1, -k}))) == Ints64{1, 0});
}

}  // namespace by_value_test
