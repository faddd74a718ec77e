// Combining at positions that are data, beside plain loops; groups, counts and histograms.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "oriel/oriel.hpp"
#include "support/unchecked_positions.hpp"

namespace scatter_test {

using namespace oriel;

namespace {

std::vector<double> values(const Tensor& x) { return x.to(DType::float64).to_vector<double>(); }

/// Elements into entries along axis 1 of (a, n, b), one position for each (`each`) or for each line.
struct Case {
  int a, n, b, k;
  bool each;
  std::vector<double> x, given;
  std::vector<int> index;

  Case(int rows, int entries, int inner, int keys, bool one_each, std::uint32_t seed)
      : a(rows), n(entries), b(inner), k(keys), each(one_each) {
    std::mt19937 random(seed);
    const auto draw = [&](int low, int high) {
      return low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1));
    };
    for (int i = 0; i < a * n * b; ++i) x.push_back(draw(-3, 3));
    for (int i = 0; i < a * k * b; ++i) given.push_back(draw(-3, 3));
    for (int i = 0; i < (each ? a * k * b : k); ++i) index.push_back(draw(-n - 1, n));
  }

  std::vector<double> expected(Combine combine, IncludeSelf self, bool integers) const {
    std::vector<double> out = x;
    std::vector<int> counts(x.size(), self == IncludeSelf::yes ? 1 : 0);
    for (int i = 0; i < a; ++i)
      for (int j = 0; j < k; ++j)
        for (int c = 0; c < b; ++c) {
          const auto element = static_cast<std::size_t>((i * k + j) * b + c);
          int at = index[each ? element : static_cast<std::size_t>(j)];
          if (at < 0) at += n;
          if (at < 0 || at >= n) continue;
          const auto entry = static_cast<std::size_t>((i * n + at) * b + c);
          double& to = out[entry];
          const double v = given[element];
          if (counts[entry]++ == 0)
            to = v;
          else if (combine == Combine::prod)
            to *= v;
          else if (combine == Combine::amax)
            to = std::max(to, v);
          else if (combine == Combine::amin)
            to = std::min(to, v);
          else
            to += v;
        }
    for (std::size_t e = 0; combine == Combine::mean && e < out.size(); ++e) {
      if (counts[e] > 1) out[e] /= counts[e];
      if (integers) out[e] = std::floor(out[e]);
    }
    return out;
  }

  std::vector<double> last() const {
    std::vector<double> out = x;
    for (int i = 0; i < a; ++i)
      for (int j = 0; j < k; ++j)
        for (int c = 0; c < b; ++c) {
          const auto element = static_cast<std::size_t>((i * k + j) * b + c);
          int at = index[each ? element : static_cast<std::size_t>(j)];
          if (at < 0) at += n;
          if (at >= 0 && at < n) out[static_cast<std::size_t>((i * n + at) * b + c)] = given[element];
        }
    return out;
  }

  Tensor x_in(DType dtype) const { return Tensor::from(x, {a, n, b}).to(dtype); }
  Tensor given_in(DType dtype) const { return Tensor::from(given, {a, k, b}).to(dtype); }
  Tensor positions() const { return each ? Tensor::from(index, {a, k, b}) : Tensor::from(index, {k}); }
};

constexpr Combine kAll[] = {Combine::sum, Combine::prod, Combine::mean, Combine::amax, Combine::amin};

void check(const Case& c, DType dtype) {
  CAPTURE(c.n);
  CAPTURE(c.k);
  CAPTURE(c.each);
  CAPTURE(dtype);
  const test::UncheckedPositions unchecked;
  const Tensor x = c.x_in(dtype), given = c.given_in(dtype), index = c.positions();
  for (const Combine combine : kAll) {
    for (const IncludeSelf self : {IncludeSelf::no, IncludeSelf::yes}) {
      CAPTURE(static_cast<int>(combine));
      CAPTURE(self == IncludeSelf::yes);
      const Tensor out =
          c.each ? scatter_reduce(x, index, given, 1, combine, self) : index_reduce(x, index, given, combine, 1, self);
      const std::vector<double> wanted = c.expected(combine, self, is_integer(dtype)), got = values(out);
      REQUIRE(out.dtype() == dtype);
      REQUIRE(got.size() == wanted.size());
      // Sums and products of these numbers are exact; a quotient is rounded to the dtype.
      const double error = dtype == DType::float64 ? 1e-15 : is_half(dtype) ? 8e-3 : 1e-6;
      for (std::size_t e = 0; e < got.size(); ++e) CHECK(std::abs(got[e] - wanted[e]) <= error * std::abs(wanted[e]));
    }
  }
  CHECK(values(c.each ? scatter(x, index, given, 1) : put(x, index, given, 1)) == c.last());
}

}  // namespace

TEST_CASE("elements of equal positions are combined, with or without what x has there") {
  for (const DType dtype : {DType::float32, DType::float64, DType::int32, DType::int64})
    for (const bool each : {false, true}) {
      check(Case(2, 5, 3, 7, each, 1), dtype);
      check(Case(1, 40, 1, 9, each, 2), dtype);
      check(Case(3, 1, 2, 4, each, 3), dtype);
    }
  check(Case(2, 6, 4, 8, false, 4), DType::float16);
  check(Case(2, 6, 4, 8, true, 5), DType::bfloat16);
  check(Case(1, 3, 2, 5, true, 6), DType::int8);
}

TEST_CASE("many positions, few entries, and the other way round") {
  const test::UncheckedPositions unchecked;
  for (const bool each : {false, true}) {
    const Case many(2, 3, 2, each ? 4000 : 30'000, each, 7), few(2, 30'000, 1, 50, each, 8);
    for (const Case* c : {&many, &few}) {
      const Tensor x = c->x_in(DType::int64), given = c->given_in(DType::int64), index = c->positions();
      CHECK(values(each ? scatter_add(x, index, given, 1) : index_add(x, index, given, 1)) ==
            c->expected(Combine::sum, IncludeSelf::yes, true));
      CHECK(values(each ? scatter(x, index, given, 1) : put(x, index, given, 1)) == c->last());
      CHECK(values(each ? scatter_reduce(x, index, given, 1, Combine::amax)
                        : index_reduce(x, index, given, Combine::amax, 1)) ==
            c->expected(Combine::amax, IncludeSelf::yes, true));
    }
  }
}

TEST_CASE("the last of equal positions, of several rows that have a position for each element") {
  const test::UncheckedPositions unchecked;
  // So many pairs of positions and entries that devices without scatters sort the positions.
  const Case c(2, 3000, 1, 400, true, 9);
  const Tensor x = c.x_in(DType::int64), given = c.given_in(DType::int64), index = c.positions();
  CHECK(values(scatter(x, index, given, 1)) == c.last());
}

TEST_CASE("NaN, infinities, bool and the ends of integers") {
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  const Tensor x = zeros(4, DType::float64), index = Tensor::of<int>({0, 0, 1, 2});
  const Tensor given = Tensor::of<double>({1, nan, -inf, -5});
  const auto most = values(index_reduce(x, index, given, Combine::amax, 0, IncludeSelf::no));
  CHECK(std::isnan(most[0]));
  CHECK(std::vector<double>(most.begin() + 1, most.end()) == std::vector<double>{-inf, -5, 0});
  CHECK(values(segment_max(Tensor::of<int>({-7, -9}), Tensor::of<int>({1, 1}), 3)) ==
        std::vector<double>{-2147483648.0, -7, -2147483648.0});
  CHECK(values(segment_min(Tensor::of<int>({-7, -9}), Tensor::of<int>({1, 1}), 2)) ==
        std::vector<double>{2147483647.0, -9});
  const Tensor flags = Tensor::of<bool>({true, false, false});
  CHECK(segment_max(flags, Tensor::of<int>({0, 0, 1}), 3).to_vector<bool>() == std::vector<bool>{true, false, false});
  CHECK(segment_min(flags, Tensor::of<int>({0, 0, 1}), 3).to_vector<bool>() == std::vector<bool>{false, false, true});
  CHECK_THROWS_WITH_AS(segment_sum(flags, Tensor::of<int>({0, 0, 1}), 3),
                       "segment_sum: takes integers and floats, not bool; use segment_max", DTypeError);
}

TEST_CASE("an infinity, a NaN and a huge number stay in their entries, of many positions too") {
  // 3,000 x 500 pairs are not compared one by one: devices without scatters sort the positions.
  constexpr std::int64_t n = 500, k = 3000;
  std::vector<std::int64_t> at;
  std::vector<float> x;
  std::vector<double> wanted(n, 0);
  for (std::int64_t j = 0; j < k; ++j) {
    const std::int64_t entry = j * 7919 % n;
    at.push_back(entry);
    x.push_back(j == 11 ? INFINITY : j == 17 ? NAN : j == 23 ? 1e30F : static_cast<float>(j % 13 - 6));
    wanted[static_cast<std::size_t>(entry)] += x.back();
  }
  const auto got = values(segment_sum(Tensor::from(x), Tensor::from(at), n));
  const auto lines = values(segment_sum(Tensor::from(x).reshape({k, 1}).expand({k, 3}), Tensor::from(at), n));
  for (std::size_t e = 0; e < wanted.size(); ++e) {
    const bool same = std::isnan(wanted[e]) ? std::isnan(got[e])
                                            : got[e] == wanted[e] || got[e] == doctest::Approx(wanted[e]).epsilon(1e-6);
    CHECK_MESSAGE(same, "entry ", e, ": ", got[e], ", not ", wanted[e]);
    CHECK((lines[3 * e + 2] == got[e] || std::isnan(got[e])));
  }
}

TEST_CASE("scatter takes an index with smaller extents, and values with larger ones") {
  const Tensor x = zeros({2, 3});
  CHECK(values(scatter(x, Tensor::of<int>({{2}, {0}}), 1, 1)) == std::vector<double>{0, 0, 1, 1, 0, 0});
  CHECK(values(scatter(x, Tensor::of<int>({{1, 0}}), Tensor::of<float>({{5, 6, 7}, {8, 9, 10}}), 0)) ==
        std::vector<double>{0, 6, 0, 5, 0, 0});
  CHECK(values(scatter_add(x, Tensor::of<int>({{0, 0, 1, 0}}), 1, 1)) == std::vector<double>{3, 1, 0, 0, 0, 0});
  CHECK_THROWS_WITH_AS(
      scatter(x, Tensor::of<int>({1}), 1, 1),
      "scatter: an index (1) does not fit (2, 3): it has the same rank and, but for axis 1, no larger extents",
      ShapeError);
  CHECK_THROWS_WITH_AS(
      scatter(x, Tensor::of<int>({{0, 1}}), zeros({1, 1}), 1),
      "scatter: values (1, 1) do not fit an index (1, 2): they are a number, or have no smaller extents", ShapeError);
  CHECK_THROWS_AS(scatter(x, Tensor::of<float>({{0}}), 1, 1), DTypeError);
}

TEST_CASE("an index outside is an error that names it, or left out") {
  const Tensor x = zeros(3), index = Tensor::of<int>({0, 3, -4, -1});
  CHECK(values(put_add(x, index, 1, 0, Bounds::zero)) == std::vector<double>{1, 0, 1});
  CHECK(values(segment_sum(1, index, 3, 0, Bounds::zero)) == std::vector<double>{1, 0, 1});
  CHECK(values(put_add(x, Tensor::of<int>({0, -1}), 1)) == std::vector<double>{1, 0, 1});
  const auto message = [&](const auto& f) {
    try {
      (void)f().realize();
    } catch (const IndexError& error) {
      return std::string(error.message());
    }
    return std::string("no error");
  };
  const std::string outside = "index 3 is out of range for axis 0 of size 3; valid are -3 to 2";
  const Tensor computed = index + 0;
  const Tensor square = zeros({3, 1}), flat = index.reshape({4, 1});
  const auto of_work = [&](const std::string& name, const auto& f) {
    const std::string text = message(f);
    CAPTURE(text);
    CHECK((text == name + ": index -4 is out of range for axis 0 of size 3; valid are -3 to 2" ||
           text == name + ": " + outside));
  };
  of_work("put", [&] { return put(x, computed, 1); });
  of_work("put_add", [&] { return put_add(x, computed, 1) * 2; });
  of_work("index_put", [&] { return index_put(x, {computed}, 1); });
  of_work("segment_sum", [&] { return segment_sum(1, computed, 3); });
  of_work("scatter", [&] { return scatter(zeros({3, 2}), flat + 0, 1, 0); });
  for (const Combine combine : {Combine::sum, Combine::prod, Combine::mean, Combine::amax, Combine::amin})
    for (const IncludeSelf self : {IncludeSelf::yes, IncludeSelf::no})
      for (const float value : {0.0F, 1.0F, 2.0F}) {
        of_work("index_reduce", [&] { return index_reduce(x, computed, value, combine, 0, self); });
        of_work("scatter_reduce", [&] { return scatter_reduce(x, computed, value, 0, combine, self); });
      }
  if (default_device() != Device::eigen()) return;
  // Positions in memory of the host are checked by the call.
  CHECK(message([&] { return put(x, index, 1); }) == "put: " + outside);
  CHECK(message([&] { return put_add(x, index, 1); }) == "put_add: " + outside);
  CHECK(message([&] { return index_add(x, index, 1); }) == "index_add: " + outside);
  CHECK(message([&] { return index_reduce(x, index, 1, Combine::prod); }) == "index_reduce: " + outside);
  CHECK(message([&] { return index_put(x, {index}, 1); }) == "index_put: " + outside);
  CHECK(message([&] { return segment_max(1, index, 3); }) == "segment_max: " + outside);
  CHECK(message([&] { return segment_mean(1, index, 3); }) == "segment_mean: " + outside);
  CHECK(message([&] { return scatter(x, index, 1, 0); }) == "scatter: " + outside);
  CHECK(message([&] { return scatter_add(x, index, 1, 0); }) == "scatter_add: " + outside);
  CHECK(message([&] { return scatter_reduce(x, index, 1, 0, Combine::amin); }) == "scatter_reduce: " + outside);
  CHECK(message([&] { return put_along_axis(square, flat, 1, 0); }) == "put_along_axis: " + outside);
  CHECK(message([&] {
          return scatter(zeros({2, 3}), Tensor::of<int>({{5}}), 1, 1);
        }) == "scatter: index 5 is out of range for axis 1 of size 3; valid are -3 to 2");
}

TEST_CASE("positions are checked where the result has no elements, or is the number that was there") {
  const Tensor a = arange(5000) + 0, a7 = a % 7;
  const auto refused = [](const auto& f) {
    CHECK_THROWS_AS((void)f(Tensor::of<int>({9})), IndexError);
    CHECK_THROWS_AS((void)f(arange(5000) + 0).realize(), IndexError);
    const auto captured = oriel::function(f);
    CHECK_THROWS_AS((void)captured((arange(5000) + 0).realize()).realize(), IndexError);
    CHECK_THROWS_AS((void)captured((arange(5000) + 0).realize()).realize(), IndexError);  // also where it was traced
  };
  refused([](const Tensor& i) { return put(zeros({0}), i, 1); });
  refused([](const Tensor& i) { return put_add(zeros({0}), i, 1); });
  refused([](const Tensor& i) { return put(zeros({3, 0}), i, 1); });
  refused([](const Tensor& i) { return index_add(zeros({3, 0}), i, 1); });
  refused([](const Tensor& i) { return scatter(zeros({0}), i, 1.F, 0); });
  refused([](const Tensor& i) { return one_hot(i, 0); });
  refused([](const Tensor& i) { return segment_sum(1, i, 0); });
  refused([](const Tensor& i) { return segment_sum(zeros({i.size(0), 0}), i, 3); });
  refused([](const Tensor& i) { return take(zeros({3, 0}), i, 0); });
  refused([](const Tensor& i) { return embedding(i, zeros({3, 0})); });
  refused([](const Tensor& i) { return index_put(zeros({0, 3}), {i, i}, 1); });
  refused([](const Tensor& i) { return index_put(zeros({3, 3, 0}), {i % 3, i}, 1); });
  refused([](const Tensor& i) { return put_along_axis(zeros({0}), i, 1.F, 0); });
  refused([](const Tensor& i) { return index_reduce(zeros({0}), i, 1.F, Combine::amax); });
  refused([](const Tensor& i) {
    Tensor z = zeros({0});
    z.assign_at(i, 1);
    return z;
  });
  refused([](const Tensor& i) { return index_put(ones({3, 3}), {i, i}, 1); });
  refused([](const Tensor& i) { return index_put(ones({3, 3}), {i % 3, i}, 1); });
  CHECK(take(zeros({7, 0}), a7, 0).shape() == Shape{5000, 0});
  CHECK(take(zeros({7, 0}), a7, 0).realize().shape() == Shape{5000, 0});
  CHECK(put(zeros({7, 0}), a7 - 7, 1).realize().shape() == Shape{7, 0});
  CHECK(put(zeros({0}), a.shrink({{0, 0}}), 1).realize().shape() == Shape{0});
  CHECK(put(zeros({0}), a, 1, 0, Bounds::zero).realize().shape() == Shape{0});
  const auto f = oriel::function([](const Tensor& i) { return take(zeros({7, 0}), i, 0); });
  CHECK(f(a7).realize().shape() == Shape{5000, 0});
  CHECK_THROWS_AS((void)f(a7 + 1).realize(), IndexError);
  CHECK(f(a7 - 7).realize().shape() == Shape{5000, 0});
}

TEST_CASE("the error of a scatter names its line, and a write that failed can be repeated with another index") {
  const Tensor index = Tensor::of<int>({0, 5});
  const Tensor x = zeros(3).realize();
  const int line = __LINE__ + 1;
  const Tensor added = put_add(x, index - 1, 1);
  const Tensor after = (added + 1) * 2;
  try {
    after.realize();
    FAIL("no error");
  } catch (const IndexError& error) {
    CHECK(error.site().line == line);
  }
  CHECK(values(put_add(x, index - 3, 1)) == std::vector<double>{1, 0, 1});
  CHECK(values(x) == std::vector<double>{0, 0, 0});
}

TEST_CASE("several positions, along axes, tables, masks") {
  const Tensor x = zeros({2, 2});
  const Tensor i = Tensor::of<int>({0, 1}), j = Tensor::of<int>({1, 1});
  CHECK(values(index_put(x, {i, j}, 5)) == std::vector<double>{0, 5, 0, 5});
  CHECK(values(index_put(x, {i}, Tensor::of<float>({{1, 2}, {3, 4}}))) == std::vector<double>{1, 2, 3, 4});
  CHECK(values(index_put(x, {Tensor::of<int>({0, 0, 2}), Tensor::of<int>({-1})}, 1, true, Bounds::zero)) ==
        std::vector<double>{0, 2, 0, 0});
  CHECK_THROWS_AS(index_put(x, {}, 1), ArgumentError);
  const Tensor m = Tensor::of<float>({{3, 1, 2}, {9, 7, 8}});
  const Tensor order = argsort(m, 1);
  CHECK(values(take_along_axis(m, order, 1)) == std::vector<double>{1, 2, 3, 7, 8, 9});
  CHECK(values(take_along_axis(m, Tensor::of<int>({{2}}), 1)) == std::vector<double>{2, 8});
  CHECK(values(put_along_axis(m, Tensor::of<int>({{0}}), Tensor::of<float>({{-1}, {-2}}), 1)) ==
        std::vector<double>{-1, 1, 2, -2, 7, 8});
  CHECK(values(embedding(Tensor::of<int>({{1, 0}}), m)) == std::vector<double>{9, 7, 8, 3, 1, 2});
  CHECK(values(index_select(m, 1, Tensor::of<int>({2}))) == std::vector<double>{2, 8});
  CHECK_THROWS_AS(index_select(m, 1, Tensor::of<int>({{2}})), ShapeError);
  CHECK(values(masked_scatter(m, m > 2, Tensor::of<float>({-1, -2, -3, -4, -5}))) ==
        std::vector<double>{-1, 1, 2, -2, -3, -4});
}

TEST_CASE("groups") {
  const Tensor v = Tensor::of<float>({{1, 2}, {3, 4}, {5, 6}}), g = Tensor::of<int>({0, 2, 0});
  CHECK(values(segment_sum(v, g, 3)) == std::vector<double>{6, 8, 0, 0, 3, 4});
  CHECK_THROWS_WITH_AS(segment_sum(v, g, -1), "segment_sum: the count of groups is -1; give a number >= 0",
                       ArgumentError);
  CHECK(values(segment_mean(v, g, 3)) == std::vector<double>{3, 4, 0, 0, 3, 4});
  CHECK(values(segment_prod(v, g, 3)) == std::vector<double>{5, 12, 1, 1, 3, 4});
  CHECK(values(segment_sum(v, Tensor::of<int>({1, 1}), 2, 1)) == std::vector<double>{0, 3, 0, 7, 0, 11});
  CHECK(values(segment_sum(1, g, 3)) == std::vector<double>{2, 0, 1});
  CHECK_THROWS_WITH_AS(segment_sum(v, Tensor::of<int>({1}), 2),
                       "segment_sum: 1 groups for the 3 entries along axis 0 of (3, 2)", ShapeError);
}

#ifndef ORIEL_NO_HISTOGRAMS
TEST_CASE("counts and histograms are NumPy's") {
  CHECK(values(bincount(Tensor::of<int>({1, 3, 1}))) == std::vector<double>{0, 2, 0, 1});
  CHECK(values(bincount(Tensor::of<int>({1}), 4)) == std::vector<double>{0, 1, 0, 0});
  CHECK(values(bincount(Tensor::of<int>({1, 0, 1}), Tensor::of<float>({0.5F, 2, 1}))) == std::vector<double>{2, 1.5});
  CHECK(bincount(zeros(0, DType::int64)).numel() == 0);
  CHECK_THROWS_WITH_AS(bincount(Tensor::of<int>({1, -2})), "bincount: -2 is among the numbers; they are counted from 0",
                       ArgumentError);
  // numpy.histogram([1, 2, 1, 4.5, 5, nan], 4, (1, 5))
  const Tensor x = Tensor::of<double>({1, 2, 1, 4.5, 5, std::numeric_limits<double>::quiet_NaN()});
  Histogram h = histogram(x, 4, {.range = std::pair(1.0, 5.0)});
  CHECK(values(h.counts) == std::vector<double>{2, 1, 0, 2});
  CHECK(values(h.edges) == std::vector<double>{1, 2, 3, 4, 5});
  h = histogram(Tensor::of<int>({0, 1, 2, 3}), 2);
  CHECK(values(h.counts) == std::vector<double>{2, 2});
  CHECK(values(h.edges) == std::vector<double>{0, 1.5, 3});
  CHECK(values(histogram(ones(3), 2).edges) == std::vector<double>{0.5, 1, 1.5});
  h = histogram(x, Tensor::of<double>({1, 2, 4, 5}));
  CHECK(values(h.counts) == std::vector<double>{2, 1, 2});
  h = histogram(Tensor::of<double>({0, 0.5, 3}), Tensor::of<double>({0, 1, 5}), {.density = true});
  CHECK(values(h.counts)[0] == doctest::Approx(2.0 / 3));
  CHECK(values(h.counts)[1] == doctest::Approx(1.0 / 12));
  h = histogram(Tensor::of<double>({0, 0.5, 3}), 2,
                {.range = std::pair(0.0, 4.0), .weights = Tensor::of<float>({1, 2, 4})});
  CHECK(values(h.counts) == std::vector<double>{3, 4});
  // Every number lies in the bin whose edges hold it.
  for (const DType dtype : {DType::float32, DType::float64}) {
    const Tensor y = (arange(5000).to(dtype) * 0.013).to(dtype);
    const Histogram all = histogram(y, 173, {.range = std::pair(0.1, 60.3)});
    const std::vector<double> edges = values(all.edges), counts = values(all.counts), points = values(y);
    std::vector<double> wanted(173, 0.0);
    for (const double p : points)
      for (std::size_t b = 0; b < 173; ++b)
        if (p >= edges[b] && (p < edges[b + 1] || (b == 172 && p == edges[b + 1]))) wanted[b] += 1;
    CHECK(counts == wanted);
  }
  CHECK(values(histogramdd(Tensor::of<double>({{0, 0}, {1, 1}, {0.2, 0.9}, {3, 0}}), {2, 2}, {{0, 1}, {0, 1}})) ==
        std::vector<double>{1, 1, 0, 1});
  CHECK_THROWS_WITH_AS(histogram(x, 0), "histogram: 0 bins; there is at least 1", ArgumentError);
  CHECK_THROWS_AS(histogram(x, 3, {.range = std::pair(1.0, 0.0)}), ArgumentError);
}

TEST_CASE("histograms whose range is wider than the greatest number, or narrower than their bins") {
  Histogram h = histogram(Tensor::of<float>({-3e38F, 3e38F, 0, 1e38F}), 3);
  CHECK(values(h.counts) == std::vector<double>{1, 1, 2});
  CHECK(values(h.edges) == values(Tensor::of<float>({-3e38F, -1e38F, 1e38F, 3e38F})));
  h = histogram(Tensor::of<double>({-1.7e308, 1.7e308, 0}), 2);
  CHECK(values(h.counts) == std::vector<double>{1, 2});
  CHECK(values(h.edges) == std::vector<double>{-1.7e308, 0, 1.7e308});
  CHECK(values(histogramdd(zeros({3, 1}), {2}, {{-1.7e308, 1.7e308}})) == std::vector<double>{0, 3});
  CHECK_THROWS_WITH_AS(histogram(ones(3), 2, {.range = std::pair(0.0, 1e300)}),
                       "histogram: a range from 0 to 1e+300; both ends are finite in float32 and in order",
                       ArgumentError);

  CHECK_THROWS_WITH_AS(histogram(Tensor::of<double>({1e300}), 2),
                       "histogram: 2 bins from 1e+300 to 1e+300; float64 has too few numbers between them",
                       ArgumentError);
  CHECK_THROWS_AS(histogram(Tensor::of<float>({1, 1 + 0x1p-23F}), 10), ArgumentError);
  CHECK_THROWS_AS(histogram(Tensor::of<std::int64_t>({9007199254740992, 9007199254740993}), 2), ArgumentError);
  CHECK_THROWS_AS(histogram(Tensor::of<double>({0, 5e-324}), 2), ArgumentError);
  CHECK_THROWS_AS(histogramdd(ones({3, 1}), {3}, {{1, 1 + 0x1p-23}}), ArgumentError);
  // Edges that are rounded by a good part of the width.
  const Tensor x = (arange(3000) * 0x1p-23 + 1).to(DType::float32);
  for (const std::int64_t bins : {2999, 2000, 1500, 1001, 700}) {
    h = histogram(x, bins);
    const std::vector<double> edges = values(h.edges), points = values(x);
    std::vector<double> wanted(static_cast<std::size_t>(bins), 0.0);
    for (const double p : points) {
      const auto behind = std::upper_bound(edges.begin(), edges.end(), p) - edges.begin();
      wanted[static_cast<std::size_t>(std::min<std::int64_t>(behind - 1, bins - 1))] += 1;
    }
    CHECK(values(h.counts) == wanted);
  }
}
#endif

TEST_CASE("means and counts of narrow integers do not wrap") {
  const Tensor x = Tensor::of<std::int8_t>({127, 127}), at = Tensor::of<int>({0, 0});
  CHECK(segment_mean(x, at, 1).to_vector<std::int8_t>() == std::vector<std::int8_t>{127});
  const Tensor zero = zeros({1}, DType::int8), most = zero + 127;
  CHECK(index_reduce(zero, at, x, Combine::mean, 0, IncludeSelf::no).to_vector<std::int8_t>() ==
        std::vector<std::int8_t>{127});
  CHECK(index_reduce(most, at, x, Combine::mean).to_vector<std::int8_t>() == std::vector<std::int8_t>{127});
  CHECK(scatter_reduce(most, at, x, 0, Combine::mean).to_vector<std::int8_t>() == std::vector<std::int8_t>{127});
#ifndef ORIEL_NO_HISTOGRAMS
  const Tensor counts = bincount(Tensor::of<int>({1, 1}), Tensor::of<std::int8_t>({100, 100}));
  CHECK(counts.dtype() == DType::int64);
  CHECK(values(counts) == std::vector<double>{0, 200});
#endif
  const std::uint64_t far = std::uint64_t{1} << 63;
  CHECK(segment_mean(Tensor::of<std::uint64_t>({far, 2}), at, 1).to_vector<std::uint64_t>() ==
        std::vector<std::uint64_t>{far / 2 + 1});
}

TEST_CASE("captured with sizes that change, and sizes that depend on data") {
  const test::UncheckedPositions unchecked;
  const auto f = oriel::function(
      [](Tensor x, Tensor index) {
        return std::tuple(put_add(zeros(index.size(0) + 2), index, x), segment_max(x, index, 5), put(x, index, 7.0));
      },
      {.dynamic = Dynamic::yes});
  for (const int n : {3, 5, 4, 1, 9}) {
    std::vector<float> x;
    std::vector<std::int64_t> index;
    for (int i = 0; i < n; ++i) {
      x.push_back(static_cast<float>(i * i % 7));
      index.push_back(i * 3 % 5);
    }
    const Tensor tx = Tensor::from(x, {n}), ti = Tensor::from(index, {n});
    const auto [sums, most, written] = f(tx, ti);
    CHECK(values(sums) == values(put_add(zeros(n + 2), ti, tx)));
    CHECK(values(most) == values(segment_max(tx, ti, 5)));
    CHECK(values(written) == values(put(tx, ti, 7.0)));
  }
  const auto g = oriel::function([](Tensor x) {
    const Tensor chosen = masked_select(x, x > 0);
    return std::tuple(segment_sum(chosen, chosen.to(DType::int64) % 4, 4),
                      put(zeros(4), chosen.to(DType::int64) % 4, chosen));
  });
  for (const std::vector<float>& x : {std::vector<float>{1, -1, 5, 2}, {-1, -2, -3, -4}, {1, 2, 3, 4}}) {
    const auto [sums, written] = g(Tensor::from(x, {4}));
    std::vector<double> wanted(4, 0.0), last(4, 0.0);
    for (const float v : x)
      if (v > 0) {
        wanted[static_cast<std::size_t>(v) % 4] += v;
        last[static_cast<std::size_t>(v) % 4] = v;
      }
    CHECK(values(sums) == wanted);
    CHECK(values(written) == last);
  }
}

TEST_CASE("a scatter is one kernel, whatever it combines, and explain names it") {
  const Tensor index = remainder(arange(5000) * 7, 900), x = sin(arange(5000).to(DType::float32));
  const Tensor sums = segment_sum(x, index, 900);
  const std::string text = to_string(explain(sums));
  if (default_device() == Device::eigen()) {
    CHECK(text.find("scatter") != std::string::npos);
    CHECK(text.find("it is scattered") != std::string::npos);
  }
  CHECK(sums.to_vector<float>() == segment_sum(x, index, 900).to_vector<float>());
}

}  // namespace scatter_test
