// Running sums and products, compared with loops over the elements.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "formula/call.hpp"
#include "graph/build.hpp"
#include "oriel/oriel.hpp"

namespace scan_test {

using namespace oriel;

namespace {

using Doubles = std::vector<double>;

constexpr std::int64_t kLengths[] = {1, 2, 3, 15, 16, 17, 63, 64, 65, 127, 128, 129, 300, 4097};

Tensor of(const Doubles& elements, const Shape& shape, DType dtype) { return Tensor::from(elements, shape).to(dtype); }
Doubles values(const Tensor& x) { return x.to(DType::float64).to_vector<double>(); }

// f(result so far, element) along the middle axis of (outer, n, inner).
template <class F>
Doubles scanned(Doubles x, std::int64_t outer, std::int64_t n, std::int64_t inner, F&& f) {
  for (std::int64_t o = 0; o < outer; ++o) {
    for (std::int64_t i = 0; i < inner; ++i) {
      for (std::int64_t k = 1; k < n; ++k) {
        const auto at = static_cast<std::size_t>((o * n + k) * inner + i);
        x[at] = f(x[at - static_cast<std::size_t>(inner)], x[at]);
      }
    }
  }
  return x;
}

// Rounds to the dtype like a result of that dtype. Small whole numbers and powers of two are exact.
Doubles rounded(const Doubles& x, DType dtype) {
  return dtype == DType::float16 || dtype == DType::bfloat16
             ? values(Tensor::from(x, {static_cast<std::int64_t>(x.size())}).to(DType::float32).to(dtype))
             : x;
}

bool is_sum_dtype(DType from, DType to) {
  if (is_floating(from)) return to == from;
  return to == (from == DType::uint64 ? DType::uint64 : DType::int64);
}

}  // namespace

TEST_CASE("sums of every dtype are exact where their numbers are") {
  std::mt19937 random(1);
  for (int d = 0; d < kDTypeCount; ++d) {
    const auto dtype = static_cast<DType>(d);
    for (const std::int64_t n : kLengths) {
      INFO(name(dtype), " ", n);
      Doubles x(static_cast<std::size_t>(3 * n * 2));
      const int low = dtype == DType::bool_ || is_unsigned(dtype) ? 0 : -8;
      std::uniform_int_distribution<int> number(low, dtype == DType::bool_ ? 1 : 8);
      for (double& v : x) v = number(random);
      const Tensor got = cumsum(of(x, {3, n, 2}, dtype), -2);
      CHECK(is_sum_dtype(dtype, got.dtype()));
      CHECK(got.shape() == Shape{3, n, 2});
      const Doubles want = scanned(x, 3, n, 2, [](double a, double b) { return a + b; });
      CHECK(values(got) == rounded(want, dtype));
      CHECK(values(cumsum(of(x, {6, n}, dtype), 1)) ==
            rounded(scanned(x, 6, n, 1, [](double a, double b) { return a + b; }), dtype));
      CHECK(values(cumsum(of(x, {n, 6}, dtype), 0)) ==
            rounded(scanned(x, 1, n, 6, [](double a, double b) { return a + b; }), dtype));
    }
  }
}

TEST_CASE("products of every dtype are exact where their numbers are") {
  std::mt19937 random(2);
  for (int d = 0; d < kDTypeCount; ++d) {
    const auto dtype = static_cast<DType>(d);
    for (const std::int64_t n : kLengths) {
      INFO(name(dtype), " ", n);
      // Floats are powers of two whose running products stay between 1/8 and 8; integers are 1, -1 and now and then a
      // 3.
      Doubles x(static_cast<std::size_t>(2 * n * 3));
      std::vector<int> exponents(6, 0);
      for (std::size_t k = 0; k < x.size(); ++k) {
        const double sign = dtype == DType::bool_ || is_unsigned(dtype) || random() % 2 == 0 ? 1 : -1;
        if (is_floating(dtype)) {
          int& now = exponents[k / static_cast<std::size_t>(3 * n) * 3 + k % 3];
          const int next = static_cast<int>(random() % 7) - 3;
          x[k] = std::ldexp(sign, next - now);
          now = next;
        } else {
          x[k] = k % 997 == 5 && dtype != DType::bool_ ? 3 : sign;
        }
      }
      const Tensor got = cumprod(of(x, {2, n, 3}, dtype), 1);
      CHECK(is_sum_dtype(dtype, got.dtype()));
      CHECK(values(got) == rounded(scanned(x, 2, n, 3, [](double a, double b) { return a * b; }), dtype));
    }
  }
}

TEST_CASE("integers wrap") {
  const std::vector<std::int64_t> big(40, INT64_MAX / 3);
  std::vector<std::int64_t> want;
  std::uint64_t sum = 0;
  for (const std::int64_t v : big) want.push_back(static_cast<std::int64_t>(sum += static_cast<std::uint64_t>(v)));
  CHECK(cumsum(Tensor::from(big, {40}), 0).to_vector<std::int64_t>() == want);
  std::vector<std::uint64_t> odd;
  std::vector<std::uint64_t> powers;
  std::uint64_t product = 1;
  for (std::uint64_t k = 0; k < 50; ++k) {
    odd.push_back(0x9e3779b97f4a7c15ULL + 2 * k);
    powers.push_back(product *= odd.back());
  }
  CHECK(cumprod(Tensor::from(odd, {50}), 0).to_vector<std::uint64_t>() == powers);
}

TEST_CASE("sums of floats are as near as additions in any order") {
  std::mt19937 random(3);
  std::uniform_real_distribution<float> number(-1, 1);
  std::vector<float> x(20000);
  for (float& v : x) v = number(random);
  const std::vector<float> got = cumsum(Tensor::from(x, {20000}), 0).to_vector<float>();
  double sum = 0;
  double size = 0;
  double worst = 0;
  for (std::size_t k = 0; k < x.size(); ++k) {
    sum += static_cast<double>(x[k]);
    size += std::fabs(static_cast<double>(x[k]));
    worst = std::max(worst, std::fabs(static_cast<double>(got[k]) - sum) / size);
  }
  CHECK(worst < 20 * 0x1p-24);
}

TEST_CASE("infinities and NaN reach the results after them, and none before") {
  for (const DType dtype : {DType::float16, DType::bfloat16, DType::float32, DType::float64}) {
    for (const double odd : {static_cast<double>(NAN), static_cast<double>(INFINITY), -static_cast<double>(INFINITY)}) {
      for (const std::size_t at : {0U, 15U, 63U, 64U, 99U}) {
        INFO(name(dtype), " ", odd, " ", at);
        Doubles x(100, 1);
        x[at] = odd;
        const Doubles sums = values(cumsum(of(x, {100}, dtype), 0));
        const Doubles products = values(cumprod(of(x, {100}, dtype), 0));
        bool fine = true;
        for (std::size_t k = 0; k < 100; ++k) {
          const auto same = [&](double v) { return std::isnan(odd) ? std::isnan(v) : v == odd; };
          fine = fine && (k < at ? sums[k] == static_cast<double>(k + 1) && products[k] == 1
                                 : same(sums[k]) && same(products[k]));
        }
        CHECK(fine);
      }
    }
  }
  Doubles both(50, 0);
  both[3] = INFINITY;
  both[20] = -INFINITY;
  const Doubles sums = values(cumsum(of(both, {50}, DType::float32), 0));
  CHECK(sums[19] == INFINITY);
  CHECK(std::isnan(sums[20]));
  CHECK(std::isnan(sums[49]));
}

TEST_CASE("small, empty and wrong axes") {
  CHECK(cumsum(Tensor::of<int>({1, 2, 3}), 0).to_vector<std::int64_t>() == std::vector<std::int64_t>{1, 3, 6});
  CHECK(cumsum(zeros({2, 0, 3}), 1).shape() == Shape{2, 0, 3});
  CHECK(cumprod(zeros({0, 5}), 1).numel() == 0);
  CHECK(cumsum(zeros({0}, DType::int8), 0).dtype() == DType::int64);
  CHECK(cumsum(scalar(7), -1).shape() == Shape{});
  CHECK(cumprod(scalar(7.5), 0).item<float>() == 7.5F);
  CHECK(cumsum(3, 0).item<std::int64_t>() == 3);
  CHECK_THROWS_WITH_AS(cumsum(zeros({2, 3}), 2), "cumsum: axis 2 of a tensor with 2 axes; give one of -2 to 1",
                       ShapeError);
  CHECK_THROWS_AS(cumprod(scalar(7), 1), ShapeError);
}

TEST_CASE("views of all kinds, and few kernels") {
  const Tensor x = iota({6, 50}).realize();
  const Tensor turned = x.transpose().flip(0);
  CHECK(cumsum(turned, 0).to_vector<std::int64_t>() == cumsum(+turned, 0).to_vector<std::int64_t>());
  std::vector<std::int64_t> want;
  for (std::int64_t row = 0; row < 50; ++row) {
    for (std::int64_t column = 0; column < 6; ++column) {
      std::int64_t sum = 0;
      for (std::int64_t k = 0; k <= row; ++k) sum += column * 50 + 49 - k;
      want.push_back(sum);
    }
  }
  CHECK(cumsum(turned, 0).to_vector<std::int64_t>() == want);
  CHECK(cumsum(turned, 0).strides() == Ints{6, 1});
  CHECK(cumsum(x.shrink({{0, 6}, {0, 1}}), 1).strides() == Ints{1, 1});
  const bool scans = default_device().kind == DeviceKind::eigen;
  CHECK(explain(cumsum(zeros({1 << 20}).realize() + 1, 0)).kernels.size() <= (scans ? 2 : 24));
  if (!scans) return;
  // What lies in memory in a row is read there.
  const Explanation e = explain(cumsum(x.reshape({60, 5}), 0));
  CHECK(e.kernels.size() == 1);
  CHECK(e.str().find("because its value was asked for") != std::string::npos);
  CHECK(e.str().find("scan: 5 columns side by side, in runs of 128 lines") != std::string::npos);
}

TEST_CASE("maxima and minima so far, and where they are") {
  const Ordered most = cummax(Tensor::of<int>({1, 3, 2, 3, -1}), 0);
  CHECK(values(most.values) == Doubles{1, 3, 3, 3, 3});
  CHECK(values(most.positions) == Doubles{0, 1, 1, 3, 3});
  CHECK(most.values.dtype() == DType::int32);
  const Ordered least = cummin(Tensor::of<float>({{2, 5}, {3, 4}, {1, 4}}), 0);
  CHECK(values(least.values) == Doubles{2, 5, 2, 4, 1, 4});
  CHECK(values(least.positions) == Doubles{0, 0, 0, 1, 2, 2});
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Ordered odd = cummax(Tensor::of<double>({1, nan, 5, nan, 2}), 0);
  CHECK(values(odd.values)[0] == 1);
  for (std::size_t k = 1; k < 5; ++k) CHECK(std::isnan(values(odd.values)[k]));
  CHECK(values(odd.positions) == Doubles{0, 1, 1, 3, 3});
  CHECK(cummax(Tensor::of<bool>({false, true, false}), 0).values.to_vector<bool>() ==
        std::vector<bool>{false, true, true});
  CHECK(cummax(Tensor::of<std::uint64_t>({1, std::numeric_limits<std::uint64_t>::max(), 2}), 0)
            .values.to_vector<std::uint64_t>()[2] == std::numeric_limits<std::uint64_t>::max());
  std::mt19937 random(3);
  for (const std::int64_t n : kLengths) {
    Doubles x(static_cast<std::size_t>(2 * n * 3));
    for (double& v : x) v = static_cast<double>(random() % 1000);
    CHECK(values(cummax(of(x, {2, n, 3}, DType::float32), 1).values) ==
          scanned(x, 2, n, 3, [](double a, double b) { return std::max(a, b); }));
    CHECK(values(cummin(of(x, {2, 3, n}, DType::int16), 2).values) ==
          scanned(x, 6, n, 1, [](double a, double b) { return std::min(a, b); }));
  }
  CHECK_THROWS_AS(cummax(zeros(3), 1), ShapeError);
  CHECK(cummax(zeros({0, 2}), 0).values.numel() == 0);
}

TEST_CASE("linear recurrences, of numbers and tensors, both ways") {
  CHECK(values(linear_recurrence(0.5, Tensor::of<float>({1, 1, 1}), 0)) == Doubles{1, 1.5, 1.75});
  CHECK(values(linear_recurrence(Tensor::of<int>({9, 2, 3}), Tensor::of<int>({1, 1, 1}), 0)) == Doubles{1, 3, 10});
  CHECK(values(linear_recurrence(Tensor::of<int>({2, 3, 9}), Tensor::of<int>({1, 1, 1}), 0, true)) == Doubles{9, 4, 1});
  CHECK(values(linear_recurrence(1.5, 2.0, 0)) == Doubles{2});
  std::mt19937 random(4);
  for (const std::int64_t n : {1, 2, 5, 63, 200}) {
    for (const std::int64_t inner : {1, 3, 70}) {
      Doubles a(static_cast<std::size_t>(5 * n * inner)), b = a;
      for (double& v : a) v = static_cast<double>(random() % 3) - 1;
      for (double& v : b) v = static_cast<double>(random() % 9) - 4;
      Doubles want = b;
      for (std::int64_t o = 0; o < 5; ++o)
        for (std::int64_t k = 1; k < n; ++k)
          for (std::int64_t i = 0; i < inner; ++i) {
            const auto at = static_cast<std::size_t>((o * n + k) * inner + i);
            want[at] = a[at] * want[at - static_cast<std::size_t>(inner)] + b[at];
          }
      for (const DType dtype : {DType::float64, DType::float32, DType::int64})
        CHECK(values(linear_recurrence(of(a, {5, n, inner}, dtype), of(b, {5, n, inner}, dtype), 1)) == want);
      const Tensor half =
          linear_recurrence(of(a, {5, n, inner}, DType::float16), of(b, {5, n, inner}, DType::float16), 1);
      CHECK(half.dtype() == DType::float16);
    }
  }
  // Broadcast: a factor for each column.
  CHECK(values(linear_recurrence(Tensor::of<float>({1, 2}), ones({3, 2}), 0)) == Doubles{1, 1, 2, 3, 3, 7});
}

TEST_CASE("scans by any associative function") {
  const Tensor x = Tensor::of<float>({3, 1, 4, 1, 5, 9, 2});
  CHECK(values(associative_scan([](const Tensor& a, const Tensor& b) { return a + b; }, x)) ==
        Doubles{3, 4, 8, 9, 14, 23, 25});
  CHECK(values(associative_scan([](const Tensor& a, const Tensor& b) { return maximum(a, b); }, x, 0, true)) ==
        Doubles{9, 9, 9, 9, 9, 9, 2});
  // Products of 2 x 2 matrices, which do not commute.
  const Tensor m = (arange(5 * 4) % 3 - 1).to(DType::float64).reshape({5, 2, 2});
  const Tensor products = associative_scan([](const Tensor& a, const Tensor& b) { return matmul(a, b); }, m);
  const Tensor backwards = associative_scan([](const Tensor& a, const Tensor& b) { return matmul(a, b); }, m, 0, true);
  Tensor so_far = m.select(0, 0), to_end = m.select(0, 4);
  for (int k = 1; k < 5; ++k) {
    so_far = matmul(so_far, m.select(0, k));
    to_end = matmul(m.select(0, 4 - k), to_end);
    CHECK(values(products.select(0, k)) == values(so_far));
    CHECK(values(backwards.select(0, 4 - k)) == values(to_end));
  }
  // Two tensors: a recurrence.
  const Combination maps = [](std::span<const Tensor> f, std::span<const Tensor> g) {
    return std::vector<Tensor>{f[0] * g[0], g[0] * f[1] + g[1]};
  };
  for (const std::int64_t n : {1, 2, 3, 6, 17, 64}) {
    const Tensor a = (arange(n) % 3 - 1).to(DType::float64), b = (arange(n) % 5).to(DType::float64);
    CHECK(values(associative_scan(maps, {a, b})[1]) == values(linear_recurrence(a, b, 0)));
  }
  CHECK_THROWS_WITH_AS(associative_scan([](const Tensor& a, const Tensor&) { return a.sum(0); }, x),
                       "associative_scan: the function makes float32 () of float32 (3); it keeps shapes and dtypes",
                       ShapeError);
}

TEST_CASE("logarithms of sums of powers so far") {
  CHECK(values(logcumsumexp(Tensor::of<double>({0, 0}), 0))[1] == doctest::Approx(std::log(2.0)));
  CHECK(values(logcumsumexp(Tensor::of<double>({-1000, -1000, 700}), 0))[1] == doctest::Approx(-1000 + std::log(2.0)));
  CHECK(values(logcumsumexp(Tensor::of<double>({0, -40}), 0))[1] == doctest::Approx(std::exp(-40.0)));
  const double inf = std::numeric_limits<double>::infinity();
  CHECK(values(logcumsumexp(Tensor::of<double>({-inf, -inf, 3, -inf, inf, 2}), 0)) ==
        Doubles{-inf, -inf, 3, 3, inf, inf});
  CHECK(std::isnan(values(logcumsumexp(Tensor::of<double>({1, std::nan(""), 2}), 0))[2]));
  for (const DType dtype : {DType::float16, DType::float32, DType::float64}) {
    const Tensor x = (arange(2 * 300) % 37 - 18).to(dtype).reshape({2, 300}) * 3;
    const Tensor wide = x.to(DType::float64);
    for (const std::int64_t axis : {0, 1}) {
      const Tensor wanted =
          associative_scan([](const Tensor& a, const Tensor& b) { return logaddexp(a, b); }, wide, axis);
      const Tensor got = logcumsumexp(x, axis);
      CHECK(got.dtype() == dtype);
      CHECK(allclose(got.to(DType::float64), wanted, dtype == DType::float16 ? 2e-3 : 1e-5, 1e-9));
    }
  }
  // One plan for all extents, and for a count of 0.
  const auto f =
      oriel::function([](Tensor x, Tensor keep) { return logcumsumexp(take(x, nonzero(keep).reshape({-1})), 0); });
  const Tensor x = Tensor::of<double>({0, 1, 2});
  CHECK(values(f(x, Tensor::of<bool>({true, false, true}))).size() == 2);
  CHECK(values(f(x, Tensor::of<bool>({false, false, false}))).empty());
  CHECK(f.entries().size() == 1);
}

TEST_CASE("a recurrence that restarts forgets infinities and NaN, in every way to run it") {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> a{0, 1, 0, 1, 2, 0, 0.5F, 1}, b{inf, 1, 2, 3, nan, 4, 6, -1};
  const std::vector<float> wanted{inf, inf, 2, 5, nan, 4, 8, 7};
  const auto same = [](const std::vector<float>& x, const std::vector<float>& y) {
    return std::ranges::equal(x, y, [](float p, float q) { return p == q || (std::isnan(p) && std::isnan(q)); });
  };
  const auto run = [&](const Tensor& factors, const Tensor& added, std::size_t axis) {
    return detail::Access::tensor(
        graph::recurrence(detail::Access::node(factors), detail::Access::node(added), axis, {}, true));
  };
  const Tensor x = Tensor::from(a), y = Tensor::from(b);
  CHECK(same(run(x, y, 0).to_vector<float>(), wanted));
  // Many rows side by side, and along an axis that is not the last.
  const Tensor rows = run(x.expand({9, 8}).realize(), y.expand({9, 8}).realize(), 1);
  const Tensor columns = run(x.reshape({8, 1}).expand({8, 5}).realize(), y.reshape({8, 1}).expand({8, 5}).realize(), 0);
  for (std::int64_t r = 0; r < 9; ++r) CHECK(same(Tensor(rows[r]).to_vector<float>(), wanted));
  for (std::int64_t c = 0; c < 5; ++c) CHECK(same(columns.select(1, c).to_vector<float>(), wanted));
#ifndef ORIEL_NO_SOURCES
  CHECK(explain(run(x, y, 0)).kernels[0].source.find("recur<true>(") != std::string::npos);
#endif
}

}  // namespace scan_test
