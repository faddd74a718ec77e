// Distributions: moments, correlations and frequencies of fixed keys, against limits that a wrong generator exceeds.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "oriel/oriel.hpp"

namespace random_test {

using namespace oriel;

namespace {

std::vector<double> doubles(const Tensor& x) { return x.to(DType::float64).to_vector<double>(); }

struct Moments {
  double mean = 0, variance = 0, skew = 0, neighbours = 0;  // neighbours: correlation of successive numbers
};
Moments moments(const std::vector<double>& x) {
  const auto n = static_cast<double>(x.size());
  Moments m;
  m.mean = std::accumulate(x.begin(), x.end(), 0.0) / n;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double d = x[i] - m.mean;
    m.variance += d * d / n;
    m.skew += d * d * d / n;
    if (i > 0) m.neighbours += d * (x[i - 1] - m.mean) / n;
  }
  m.skew /= std::pow(m.variance, 1.5);
  m.neighbours /= m.variance;
  return m;
}

/// Mean and variance within five deviations of their estimates (`fourth`: the fourth central moment over the squared
/// variance), and no correlation of neighbours.
void check_moments(const std::vector<double>& x, double mean, double variance, double fourth) {
  const auto n = static_cast<double>(x.size());
  const Moments m = moments(x);
  CAPTURE(m.mean);
  CAPTURE(m.variance);
  CHECK(std::abs(m.mean - mean) < 5 * std::sqrt(variance / n));
  CHECK(std::abs(m.variance / variance - 1) < 5 * std::sqrt((fourth - 1) / n));
  CHECK(std::abs(m.neighbours) < 5 / std::sqrt(n));
}

/// Pearson's statistic of counts, in deviations from its mean: chi-square of k - 1 degrees is about normal.
double chi_square(const std::vector<double>& counts, const std::vector<double>& expected) {
  double sum = 0, cells = 0;
  for (std::size_t k = 0; k < counts.size(); ++k) {
    if (expected[k] < 5) continue;
    sum += (counts[k] - expected[k]) * (counts[k] - expected[k]) / expected[k];
    cells += 1;
  }
  return (sum - (cells - 1)) / std::sqrt(2 * (cells - 1));
}

/// Numbers that a distribution function maps to uniform ones, counted in 200 cells.
template <class F>
void check_distribution(const std::vector<double>& x, const F& share_below) {
  std::vector<double> counts(200), expected(200, static_cast<double>(x.size()) / 200);
  for (const double v : x) {
    const double share = share_below(v);
    REQUIRE(share >= 0);
    REQUIRE(share <= 1);
    counts[std::min<std::size_t>(199, static_cast<std::size_t>(share * 200))] += 1;
  }
  CHECK(std::abs(chi_square(counts, expected)) < 4.5);
}

double normal_share(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

/// The regularised incomplete gamma function P(a, x) by its series and continued fraction.
double gamma_share(double a, double x) {
  if (x <= 0) return 0;
  const double front = std::exp(a * std::log(x) - x - std::lgamma(a));
  if (x < a + 1) {
    double term = 1 / a, sum = term;
    for (int k = 1; k < 10000 && term > 1e-17 * sum; ++k) sum += term *= x / (a + k);
    return front * sum;
  }
  double b = x + 1 - a, c = 1e300, d = 1 / b, h = d;
  for (int k = 1; k < 10000; ++k) {
    const double an = -k * (k - a);
    b += 2;
    d = 1 / (an * d + b);
    c = b + an / c;
    h *= d * c;
    if (std::abs(d * c - 1) < 1e-16) break;
  }
  return 1 - front * h;
}

constexpr std::int64_t kCount = 200'000;

}  // namespace

TEST_CASE("uniform numbers have their moments, are even, and successive ones fill a square") {
  const std::vector<double> x = doubles(uniform(Key(1), {kCount}));
  check_moments(x, 0.5, 1.0 / 12, 1.8);
  check_distribution(x, [](double v) { return v; });
  check_distribution(doubles(uniform(Key(2), {kCount}, -3, 5, DType::float64)), [](double v) { return (v + 3) / 8; });
  std::vector<double> counts(400), expected(400, kCount / 2.0 / 400);
  for (std::size_t i = 0; i + 1 < x.size(); i += 2)
    counts[static_cast<std::size_t>(x[i] * 20) * 20 + static_cast<std::size_t>(x[i + 1] * 20)] += 1;
  CHECK(std::abs(chi_square(counts, expected)) < 4.5);
  // Every bit is set half the time.
  const std::vector<std::uint64_t> bits = random_bits(Key(3), {kCount}).to_vector<std::uint64_t>();
  for (int bit = 0; bit < 64; ++bit) {
    const auto ones = std::count_if(bits.begin(), bits.end(), [&](std::uint64_t w) { return (w >> bit & 1) != 0; });
    CHECK(std::abs(static_cast<double>(ones) - kCount / 2.0) < 5 * std::sqrt(kCount / 4.0));
  }
}

TEST_CASE("streams of keys that were split, folded or seeded one after the other do not correlate") {
  std::vector<Key> keys = split(Key(5), 4);
  for (std::uint64_t seed = 0; seed < 4; ++seed) keys.emplace_back(seed);
  for (int step = 0; step < 4; ++step) keys.push_back(fold_in(Key(5), step));
  std::vector<std::vector<double>> streams;
  for (const Key& key : keys) streams.push_back(doubles(normal(key, {20'000})));
  for (std::size_t a = 0; a < streams.size(); ++a)
    for (std::size_t b = 0; b < a; ++b)
      CHECK(std::abs(std::inner_product(streams[a].begin(), streams[a].end(), streams[b].begin(), 0.0)) <
            5 * std::sqrt(20'000.0));
}

TEST_CASE("normal numbers") {
  for (const DType dtype : {DType::float32, DType::float64}) {
    const std::vector<double> x = doubles(normal(Key(11), {kCount}, 0, 1, dtype));
    check_moments(x, 0, 1, 3);
    CHECK(std::abs(moments(x).skew) < 5 * std::sqrt(6.0 / kCount));
    check_distribution(x, normal_share);
    check_moments(doubles(normal(Key(12), {kCount}, 3, 0.5, dtype)), 3, 0.25, 3);
  }
  check_moments(doubles(normal(Key(13), {kCount}, 0, 1, DType::float16)), 0, 1, 3);
  // Parameters broadcast.
  const std::vector<double> y =
      doubles(normal(Key(14), {2, 3}, Tensor::of<float>({{100}, {200}}), Tensor::of<float>({0, 0, 1})));
  CHECK(y[0] == 100);
  CHECK(y[4] == 200);
  CHECK(y[2] != 100);
  CHECK(std::isnan(doubles(normal(Key(1), {1}, 0, Tensor::of<float>({-1})))[0]));
  CHECK_THROWS_WITH_AS((void)normal(Key(1), {1}, 0, -1), "normal: deviation is -1; give a finite number >= 0",
                       ArgumentError);
}

TEST_CASE("exponential, truncated normal, gamma and beta numbers") {
  const std::vector<double> e = doubles(exponential(Key(21), {kCount}, 2));
  check_moments(e, 2, 4, 9);
  check_distribution(e, [](double v) { return 1 - std::exp(-v / 2); });
  CHECK(*std::min_element(e.begin(), e.end()) >= 0);

  for (const auto& [low, high] : {std::pair{-2.0, 2.0}, {0.5, 3.0}, {-INFINITY, -1.0}, {6.0, 7.0}, {-40.0, -38.0}}) {
    CAPTURE(low);
    const std::vector<double> t = doubles(truncated_normal(Key(22), {kCount}, low, high, DType::float64));
    CHECK(*std::min_element(t.begin(), t.end()) >= low);
    CHECK(*std::max_element(t.begin(), t.end()) <= high);
    if (low < -30) continue;  // its distribution function has no digits left
    const double sign = low > 0 ? -1 : 1;
    const double below = normal_share(sign > 0 ? low : -high), above = normal_share(sign > 0 ? high : -low);
    check_distribution(
        t, [&](double v) { return std::clamp((normal_share(sign * v) - below) / (above - below), 0.0, 1.0); });
  }
  CHECK(std::isnan(doubles(truncated_normal(Key(1), {1}, 1, 0))[0]));
  // Where the shares of both ends round to 0.
  for (const auto& [low, high] : {std::pair{40.0, 41.0}, {40.0, HUGE_VAL}, {-HUGE_VAL, -40.0}, {39.0, 39.01}}) {
    CAPTURE(low);
    CAPTURE(high);
    const std::vector<double> t = doubles(truncated_normal(Key(29), {kCount}, low, high, DType::float64));
    const double a = std::min(std::abs(low), std::abs(high)), wide = high - low;
    const auto share = [&](double d) { return -std::expm1(-a * d - d * d / 2 - std::log1p(d / a)); };
    check_distribution(t, [&](double v) { return share(std::abs(v) - a) / share(wide); });
    CHECK(*std::min_element(t.begin(), t.end()) >= low);
    CHECK(*std::max_element(t.begin(), t.end()) <= high);
  }
  const Tensor low = Tensor::of<double>({-HUGE_VAL, -1, 50}), high = Tensor::of<double>({-50, 1, HUGE_VAL});
  const std::vector<double> mixed = doubles(truncated_normal(Key(1), {3}, low, high));
  CHECK((mixed[0] <= -50 && mixed[0] > -51 && std::abs(mixed[1]) <= 1 && mixed[2] >= 50 && mixed[2] < 51));
  CHECK(doubles(truncated_normal(Key(1), {2}, 40, 40)) == std::vector<double>{40, 40});
  CHECK(doubles(truncated_normal(Key(1), {2}, 1e300, HUGE_VAL, DType::float64)) == std::vector<double>{1e300, 1e300});

  for (const double a : {0.3, 1.0, 2.5, 40.0}) {
    CAPTURE(a);
    for (const DType dtype : {DType::float32, DType::float64}) {
      const std::vector<double> g = doubles(gamma(Key(23), {kCount}, a, 1, dtype));
      check_moments(g, a, a, 3 + 6 / a);
      check_distribution(g, [&](double v) { return gamma_share(a, v); });
    }
  }
  check_moments(doubles(gamma(Key(24), {kCount}, Tensor::of<double>({3}), 2)), 6, 12, 5);
  CHECK(std::isnan(doubles(gamma(Key(1), {1}, Tensor::of<float>({-1})))[0]));
  CHECK_THROWS_WITH_AS((void)gamma(Key(1), {1}, 0), "gamma: a is 0; give a finite number > 0", ArgumentError);

  // Beta of (1, b) has the distribution 1 - (1 - x)^b; of (a, a) it is symmetric.
  check_distribution(doubles(beta(Key(25), {kCount}, 1, 3)), [](double v) { return 1 - std::pow(1 - v, 3); });
  check_distribution(doubles(beta(Key(26), {kCount}, 2, 1)), [](double v) { return v * v; });
  check_moments(doubles(beta(Key(27), {kCount}, 0.5, 0.5)), 0.5, 0.125, 1.5);
  for (const double v : doubles(beta(Key(28), {1000}, 0.001, 0.001))) CHECK((v >= 0 && v <= 1));
}

TEST_CASE("gamma and beta numbers of large parameters, which float32 hardly tells from their mean") {
  const auto n = static_cast<double>(kCount);
  for (const DType dtype : {DType::float32, DType::float64}) {
    for (const double a : {1e4, 1e8, 1e10, 1e12, 1e14}) {
      CAPTURE(a);
      const double exact = doubles(full({1}, a, dtype))[0];
      const Moments m = moments(doubles(gamma(Key(91), {kCount}, a, 1, dtype)));
      CHECK(std::abs(m.mean - exact) < 6 * std::sqrt(exact / n));
      // Rounding adds a twelfth of the square of the distance between numbers.
      CHECK(m.variance / exact == doctest::Approx(1).epsilon(a < 1e13 ? 0.04 : 0.1));
    }
    for (const double a : {1e4, 1e8, 1e10}) {
      CAPTURE(a);
      const Moments m = moments(doubles(beta(Key(92), {kCount}, a, a, dtype)));
      CHECK(std::abs(m.mean - 0.5) < 6 * std::sqrt(0.125 / a / n));
      CHECK(m.variance * 8 * a == doctest::Approx(1).epsilon(0.04));
    }
  }
  // The greatest float.
  for (const double v : doubles(gamma(Key(93), {100}, 3e38F))) CHECK(v == doctest::Approx(3e38));
}

TEST_CASE("Poisson numbers have their probabilities") {
  for (const double mean : {0.0, 0.2, 3.0, 9.9, 10.0, 50.0, 1000.0}) {
    CAPTURE(mean);
    const std::vector<double> x = doubles(poisson(Key(31), {kCount}, mean));
    CHECK(poisson(Key(31), {2}, mean).dtype() == DType::int64);
    const auto most = static_cast<std::size_t>(mean + 10 * std::sqrt(mean) + 10);
    std::vector<double> counts(most), expected(most);
    for (const double v : x) {
      REQUIRE(v >= 0);
      REQUIRE(v < static_cast<double>(most));
      counts[static_cast<std::size_t>(v)] += 1;
    }
    if (mean == 0) {
      CHECK(counts[0] == kCount);
      continue;
    }
    for (std::size_t k = 0; k < most; ++k) {
      const auto n = static_cast<double>(k);
      expected[k] = kCount * std::exp(n * std::log(mean) - mean - std::lgamma(n + 1));
    }
    CHECK(std::abs(chi_square(counts, expected)) < 4.5);
    check_moments(x, mean, mean, 3 + 1 / mean);
  }
  // Means in a tensor take either method, with the numbers of each.
  const Tensor means = Tensor::of<double>({3, 50, -1, NAN});
  const std::vector<std::int64_t> mixed = poisson(Key(31), {100, 4}, means).to_vector<std::int64_t>();
  const std::vector<std::int64_t> small = poisson(Key(31), {100, 4}, 3).to_vector<std::int64_t>();
  const std::vector<std::int64_t> large = poisson(Key(31), {100, 4}, 50).to_vector<std::int64_t>();
  for (std::size_t k = 0; k < mixed.size(); ++k) CHECK(mixed[k] == (k % 4 == 0 ? small[k] : k % 4 == 1 ? large[k] : 0));
  CHECK_THROWS_WITH_AS((void)poisson(Key(1), {1}, -1), "poisson: mean is -1; give a number in [0, 2^53]",
                       ArgumentError);
}

TEST_CASE("integers of a range are equally frequent, whatever its size") {
  const auto check = [](std::int64_t low, std::int64_t high, DType dtype) {
    const Tensor x = randint(Key(41), {kCount}, low, high, dtype);
    CHECK(x.dtype() == dtype);
    const auto width = static_cast<double>(high) - static_cast<double>(low);
    const double cells = std::min(width, 100.0);
    std::vector<double> counts(static_cast<std::size_t>(cells)), expected(counts.size(), kCount / cells);
    for (const std::int64_t v : x.to(DType::int64).to_vector<std::int64_t>()) {
      REQUIRE(v >= low);
      REQUIRE(v < high);
      const double place = (static_cast<double>(v) - static_cast<double>(low)) * cells / width;
      counts[std::min(counts.size() - 1, static_cast<std::size_t>(place))] += 1;
    }
    if (cells > 1) CHECK(std::abs(chi_square(counts, expected)) < 4.5);
  };
  check(1, 7, DType::int64);
  check(-5, -4, DType::int8);
  check(0, 100, DType::uint8);
  check(-1'000'000'000, 1'000'000'000, DType::int32);
  check(0, std::int64_t{3} << 61, DType::int64);
  check(INT64_MIN, INT64_MAX, DType::int64);
  CHECK_THROWS_WITH_AS((void)randint(Key(1), {1}, 3, 3), "randint: 3 to 3 holds no integer; give low < high",
                       ArgumentError);
  CHECK_THROWS_AS((void)randint(Key(1), {1}, 0, 300, DType::uint8), ArgumentError);
  CHECK_THROWS_AS((void)randint(Key(1), {1}, 0, 3, DType::float32), DTypeError);
  // A bound that is a size gives the same integers.
  FunctionOptions options;
  options.dynamic = Dynamic::yes;
  const auto f = function([](Tensor x, Key key) { return randint(key, {20}, 0, x.size(0)); }, options);
  for (const int n : {9, 1000}) {
    CHECK(f(ones({n}), Key(4)).to_vector<std::int64_t>() == randint(Key(4), {20}, 0, n).to_vector<std::int64_t>());
  }
  CHECK(f.counts().traces == 1);
}

TEST_CASE("bernoulli and dropout") {
  const std::vector<double> x = doubles(bernoulli(Key(51), {kCount}, 0.3));
  check_moments(x, 0.3, 0.21, (1 - 3 * 0.21) / 0.21);
  const Tensor p = Tensor::of<float>({0, 1});
  CHECK(bernoulli(Key(52), {500, 2}, p).to(DType::int32).sum(0).to_vector<std::int64_t>() ==
        std::vector<std::int64_t>{0, 500});
  CHECK_THROWS_WITH_AS((void)bernoulli(Key(1), {1}, 1.5), "bernoulli: p is 1.5; give a number in [0, 1]",
                       ArgumentError);

  const std::vector<double> kept = doubles(dropout(Key(53), ones({kCount}), 0.2));
  double dropped = 0;
  for (const double v : kept) {
    CHECK((v == 0 || v == 1.25));
    dropped += v == 0;
  }
  CHECK(std::abs(dropped / kCount - 0.2) < 5 * std::sqrt(0.16 / kCount));
  // What is dropped is 0, infinities and NaN too.
  for (const double v : doubles(dropout(Key(53), full({64}, NAN), 0.5))) CHECK((v == 0 || std::isnan(v)));
  CHECK(doubles(dropout(Key(1), ones({3}), 1)) == std::vector<double>{0, 0, 0});
  CHECK(doubles(dropout(Key(1), ones({3}), 0)) == std::vector<double>{1, 1, 1});
  CHECK_THROWS_AS((void)dropout(Key(1), iota({3}), 0.5), DTypeError);
  CHECK_THROWS_WITH_AS((void)dropout(Key(1), ones({3}), -1), "dropout: p is -1; give a number in [0, 1]",
                       ArgumentError);
}

TEST_CASE("uniform numbers over the whole range of floats") {
  for (const DType dtype : {DType::float32, DType::float64, DType::float16}) {
    const double most = dtype == DType::float32 ? 3.4e38 : dtype == DType::float64 ? 1.7e308 : 65504;
    if (dtype != DType::float16)
      check_distribution(doubles(uniform(Key(71), {kCount}, -most, most, dtype) / most),
                         [](double v) { return (v + 1) / 2; });
    const Tensor end = full({kCount}, most, dtype);
    CHECK(all(isfinite(uniform(Key(72), {kCount}, -end, end, dtype))).item<bool>());
  }
  CHECK(doubles(uniform(Key(1), {2}, 3, 3)) == std::vector<double>{3, 3});
  CHECK_THROWS_WITH_AS((void)uniform(Key(1), {2}, 3, 1), "uniform: low is 3 and high 1; give low <= high",
                       ArgumentError);
  CHECK_THROWS_WITH_AS((void)uniform(Key(1), {2}, 0, 1e39), "uniform: high is 1e+39; give a finite number of float32",
                       ArgumentError);
  CHECK_THROWS_WITH_AS((void)uniform(Key(1), {2}, -1e5, 1, DType::float16),
                       "uniform: low is -100000; give a finite number of float16", ArgumentError);
  // Elements that are no range give NaN.
  const std::vector<double> x = doubles(uniform(Key(1), {4}, Tensor::of<float>({3, 0, NAN, -HUGE_VALF}), 1));
  CHECK((std::isnan(x[0]) && x[1] < 1 && std::isnan(x[2]) && std::isnan(x[3])));
}

TEST_CASE("tiny parameters of gamma and beta, and parameters that are infinite") {
  for (const DType dtype : {DType::float32, DType::float64, DType::float16}) {
    for (const double a : {1e-30, 1e-38, 1e-40, 1e-50, 1e-310}) {
      const Tensor tiny = full({8}, a, DType::float64);
      CHECK(doubles(gamma(Key(81), {8}, a, 1, dtype)) == std::vector<double>(8, 0));
      CHECK(doubles(gamma(Key(81), {8}, tiny, 1, dtype)) == std::vector<double>(8, 0));
      // Beta numbers of such parameters are 0 or 1, here as often.
      double ones = 0;
      for (const double v : doubles(beta(Key(82), {2000}, a, a, dtype))) {
        CHECK((v == 0 || v == 1));
        ones += v;
      }
      CHECK(std::abs(ones - 1000) < 5 * std::sqrt(500.0));
    }
    double ones = 0;
    for (const double v : doubles(beta(Key(83), {2000}, 3e-37, 1e-37, dtype))) ones += v;
    CHECK(std::abs(ones - 1500) < 5 * std::sqrt(375.0));
  }
  const Tensor infinite = Tensor::of<float>({HUGE_VALF});
  for (const Tensor& x :
       {gamma(Key(1), {1}, infinite), gamma(Key(1), {1}, 1, infinite), exponential(Key(1), {1}, infinite),
        normal(Key(1), {1}, infinite), normal(Key(1), {1}, 0, infinite), beta(Key(1), {1}, 1, infinite)})
    CHECK(std::isnan(doubles(x)[0]));
  CHECK(doubles(bernoulli(Key(1), {4}, Tensor::of<float>({HUGE_VALF, 2, -1, NAN}))) == std::vector<double>(4, 0));
  CHECK(doubles(poisson(Key(1), {4}, Tensor::of<double>({HUGE_VAL, 0x1p54, -1, NAN}))) == std::vector<double>(4, 0));
  CHECK_THROWS_WITH_AS((void)exponential(Key(1), {1}, 1e39),
                       "exponential: mean is 1e+39; give a finite number >= 0 of float32", ArgumentError);
}

TEST_CASE("large means of poisson numbers") {
  for (const double mean : {1e6, 1e12, 0x1p50, 0x1p53}) {
    INFO(mean);
    std::vector<double> x = doubles(poisson(Key(91), {kCount}, mean));
    for (double& v : x) v = (v - mean) / std::sqrt(mean);
    check_moments(x, 0, 1, 3);
  }
}

TEST_CASE("weights at the ends of the range of float64") {
  const double tiny = std::numeric_limits<double>::denorm_min();
  for (const bool replace : {true, false}) {
    const Tensor weights = Tensor::of<double>({{0, tiny, 0}, {0, 1e-310, 0}, {0, 1e308, 1e-300}});
    const Tensor at = replace ? multinomial(Key(97), weights, 500, true) : multinomial(Key(97), weights, 1, false);
    for (const std::int64_t k : at.to_vector<std::int64_t>()) CHECK(k == 1);
    std::vector<double> counts(2);
    const Tensor rows = Tensor::of<double>({tiny, 3 * tiny}).expand({4000, 2});
    for (const std::int64_t k : multinomial(Key(98), rows, 1, replace).to_vector<std::int64_t>())
      counts[static_cast<std::size_t>(k)] += 1;
    CHECK(std::abs(chi_square(counts, {1000, 3000})) < 4.5);
  }
}

TEST_CASE("weights that choose nothing give a position inside") {
  const double inf = HUGE_VAL;
  const Tensor weights = Tensor::of<double>({{0, 0, 0}, {NAN, 1, 1}, {1, inf, 1}, {-1, -1, -1}, {1, NAN, inf}});
  for (const std::int64_t at : multinomial(Key(95), weights, 50, true).to_vector<std::int64_t>())
    CHECK((at >= 0 && at < 3));
  // The sum of finite weights may be beyond the range.
  std::vector<double> counts(3);
  for (const std::int64_t at :
       multinomial(Key(96), Tensor::of<double>({1e308, 1e308, 1e308}), 6000, true).to_vector<std::int64_t>())
    counts[static_cast<std::size_t>(at)] += 1;
  CHECK(std::abs(chi_square(counts, {2000, 2000, 2000})) < 4.5);
}

TEST_CASE("permutations, choices and multinomial draws") {
  // All 24 orders of four things are equally frequent.
  std::vector<double> counts(256), some, expected;
  for (int trial = 0; trial < 2400; ++trial) {
    const std::vector<std::int64_t> order = permutation(fold_in(Key(61), trial), 4).to_vector<std::int64_t>();
    std::size_t code = 0;
    for (const std::int64_t v : order) code = code * 4 + static_cast<std::size_t>(v);
    counts[code] += 1;
  }
  for (const double c : counts)
    if (c > 0) some.push_back(c);
  CHECK(some.size() == 24);
  expected.assign(24, 100);
  CHECK(std::abs(chi_square(some, expected)) < 4.5);
  CHECK(permutation(Key(1), 0).shape() == Shape{0});

  const Tensor x = iota({5, 6});
  const Tensor mixed = shuffle(Key(62), x, 1);
  CHECK(sort(mixed, 1).to_vector<std::int64_t>() == x.to_vector<std::int64_t>());
  CHECK(mixed.to_vector<std::int64_t>() != x.to_vector<std::int64_t>());
  CHECK((mixed - mixed[0]).slice({{}, Slice(0, 1)}).to_vector<std::int64_t>() ==
        std::vector<std::int64_t>{0, 6, 12, 18, 24});

  const Tensor different = choice(Key(63), 50, {6, 7}, false);
  CHECK(unique(different).numel() == 42);
  CHECK(different.shape() == Shape{6, 7});
  CHECK(unique(choice(Key(63), 3, {100})).to_vector<std::int64_t>() == std::vector<std::int64_t>{0, 1, 2});
  CHECK_THROWS_WITH_AS((void)choice(Key(1), 3, {4}, false),
                       "choice: 4 different ones of 3; give a smaller shape, or replace", ArgumentError);
  CHECK_THROWS_WITH_AS((void)choice(Key(1), 0, {1}), "choice: n is 0; give a number >= 1", ArgumentError);

  const Tensor weights = Tensor::of<float>({{1, 0, 3, 4}, {0, 5, 0, 0}});
  const std::vector<std::int64_t> drawn = multinomial(Key(64), weights, 20'000, true).to_vector<std::int64_t>();
  std::vector<double> found(4);
  for (std::size_t k = 0; k < 20'000; ++k) {
    found[static_cast<std::size_t>(drawn[k])] += 1;
    CHECK(drawn[20'000 + k] == 1);
  }
  CHECK(found[1] == 0);
  CHECK(std::abs(chi_square({found[0], found[2], found[3]}, {2500, 7500, 10'000})) < 4.5);
  // The first of those without replacement has the same probabilities; positions of weight 0 come last.
  std::vector<double> first(4);
  for (int trial = 0; trial < 2000; ++trial) {
    const std::vector<std::int64_t> order =
        multinomial(fold_in(Key(65), trial), weights[0], 4).to_vector<std::int64_t>();
    first[static_cast<std::size_t>(order[0])] += 1;
    CHECK(order[3] == 1);
  }
  CHECK(std::abs(chi_square({first[0], first[2], first[3]}, {250, 750, 1000})) < 4.5);
  CHECK_THROWS_WITH_AS((void)multinomial(Key(1), weights, 5),
                       "multinomial: 5 of 4 different positions; give a number from 0 to n, or replace", ArgumentError);
  CHECK_THROWS_WITH_AS((void)multinomial(Key(1), 3, 1), "multinomial: weights () have no axis; give (.., n)",
                       ShapeError);
}

}  // namespace random_test
