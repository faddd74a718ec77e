// Variances and normalisations of rows whose mean or squares float32 does not hold, beside their definitions in long
// double.
#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "oriel/oriel.hpp"

namespace moments_test {

using namespace oriel;

namespace {

using Floats = std::vector<float>;

/// The moments of a row by their definitions.
struct Row {
  explicit Row(const Floats& row, double eps) : x(row) {
    for (const float v : x) mean += v;
    mean /= static_cast<long double>(x.size());
    for (const float v : x) {
      squares += (v - mean) * (v - mean);
      powers += static_cast<long double>(v) * v;
      largest = std::max(largest, std::abs(v));
    }
    const auto n = static_cast<long double>(x.size());
    scale = 1 / std::sqrt(squares / n + eps);
    rms = 1 / std::sqrt(powers / n + eps);
  }
  const Floats& x;
  long double mean = 0, squares = 0, powers = 0, scale = 0, rms = 0;
  float largest = 0;
};

/// Rows of one kind: (rows, length), row after row.
struct Kind {
  const char* name;
  std::function<float(std::mt19937&, std::int64_t row)> element;
  double eps = 1e-5;
};

float uniform(std::mt19937& random) { return std::uniform_real_distribution<float>(-1, 1)(random); }

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all = {
      {"ordinary", [](std::mt19937& g, std::int64_t) { return uniform(g); }},
      {"equal and large", [](std::mt19937&, std::int64_t row) { return 1e10F * static_cast<float>(row + 1); }},
      {"equal and very large", [](std::mt19937&, std::int64_t) { return 3e38F; }},
      {"neighbours", [](std::mt19937& g, std::int64_t) { return 1e10F + 1024 * std::floor(3 * uniform(g)); }},
      {"a large mean", [](std::mt19937& g, std::int64_t) { return 1e6F + uniform(g); }},
      {"huge", [](std::mt19937& g, std::int64_t) { return 1e30F * uniform(g); }},
      {"the largest", [](std::mt19937& g, std::int64_t) { return g() % 2 == 0 ? 1.7e38F : -1.7e38F; }},
      {"small", [](std::mt19937& g, std::int64_t) { return 1e-15F * uniform(g); }, 0},
      {"tiny", [](std::mt19937& g, std::int64_t) { return 1e-30F * uniform(g); }, 0},
      {"tiny beside eps", [](std::mt19937& g, std::int64_t) { return 1e-20F * uniform(g); }},
  };
  return all;
}

void check_rows(const Kind& kind, std::int64_t rows, std::int64_t length, bool columns) {
  CAPTURE(kind.name);
  CAPTURE(rows);
  CAPTURE(length);
  CAPTURE(columns);
  std::mt19937 random(static_cast<unsigned>(rows * 31 + length));
  Floats all;
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < length; ++j) all.push_back(kind.element(random, i));
  const Tensor by_rows = Tensor::from(all, {rows, length}).realize();
  const Tensor x = columns ? by_rows.transpose().to(MemoryFormat::contiguous).realize() : by_rows;
  const std::int64_t axis = columns ? 0 : 1;
  const auto values = [&](const Tensor& y) {
    return (columns && y.rank() == 2 ? y.transpose() : y).to_vector<float>();
  };
  const Floats normal = values(layer_norm(x, axis, kind.eps)), rms = values(rms_norm(x, axis, {.eps = kind.eps}));
  const Floats variance = values(var(x, axis)), deviation = values(stddev(x, axis));
  // Channels in place of rows.
  const Tensor channels = columns ? x : x.transpose();
  Tensor running_mean = zeros({rows}).realize(), running_variance = ones({rows}).realize();
  const Floats batch = batch_norm_training(channels, running_mean, running_variance, {.eps = kind.eps}, 1)
                           .transpose()
                           .to_vector<float>();
  const Floats means = running_mean.to_vector<float>(), variances = running_variance.to_vector<float>();
  for (std::int64_t i = 0; i < rows; ++i) {
    CAPTURE(i);
    const auto at = static_cast<std::size_t>(i);
    const Floats elements(all.begin() + i * length, all.begin() + (i + 1) * length);
    const Row row(elements, kind.eps);
    // Of results, and of what a result is a difference of.
    const auto near = [&](float got, long double want, long double beside = 0) {
      const auto rounded = static_cast<float>(want);
      if (std::isinf(rounded)) return got == rounded;
      return std::abs(got - want) <= 4e-6L * (std::abs(want) + beside) + 1e-44L;
    };
    const long double want = row.squares / static_cast<long double>(length - 1);
    // Of a difference of sums in float64.
    const long double error = row.mean * row.mean * length / static_cast<long double>(length - 1) * 0x1p-46L / 4e-6L;
    CHECK(near(variance[at], want, want == 0 ? 0 : error));
    CHECK(near(deviation[at], std::sqrt(want), want == 0 ? 0 : error / std::sqrt(want)));
    CHECK(near(variances[at], want, want == 0 ? 0 : error));
    CHECK(near(means[at], row.mean, row.largest * 1e-1L));
    bool right = true;
    for (std::int64_t j = 0; j < length; ++j) {
      const auto k = static_cast<std::size_t>(i * length + j);
      const long double scaled = (all[k] - row.mean) * (row.squares == 0 ? 0 : row.scale);
      const long double beside = row.squares == 0 ? 0 : std::sqrt(row.squares / length) * row.scale;
      // The mean is rounded to float32 before it is subtracted.
      const long double rounding = row.squares == 0 ? 0 : std::abs(row.mean) * 0x1p-24L * row.scale / 4e-6L;
      right = right && near(normal[k], scaled, beside + rounding) && near(batch[k], scaled, beside + rounding) &&
              near(rms[k], all[k] * row.rms);
    }
    CHECK(right);
  }
}

}  // namespace

TEST_CASE("normalisations of numbers whose mean or squares float32 does not hold") {
  const Tensor equal = full({10}, 1e10F).realize(), opposite = Tensor::of<float>({1e30F, -1e30F});
  const Tensor small = Tensor::of<float>({1e-30F, -1e-30F});
  CHECK(layer_norm(equal).to_vector<float>() == Floats(10, 0));
  CHECK(layer_norm(opposite).to_vector<float>() == Floats{1, -1});
  CHECK(layer_norm(small, -1, 0).to_vector<float>()[0] == doctest::Approx(1));
  CHECK(rms_norm(opposite).to_vector<float>() == Floats{1, -1});
  CHECK(rms_norm(small, -1, {.eps = 0}).to_vector<float>()[0] == doctest::Approx(1));
  CHECK(group_norm(equal.reshape({1, 10}), 1).to_vector<float>() == Floats(10, 0));
  CHECK(group_norm(opposite.reshape({1, 2}), 1).to_vector<float>() == Floats{1, -1});
  CHECK(instance_norm(equal.reshape({1, 1, 10})).to_vector<float>() == Floats(10, 0));
  CHECK(instance_norm(opposite.reshape({1, 1, 2})).to_vector<float>() == Floats{1, -1});
  CHECK(var(equal).item<float>() == 0);
  CHECK(stddev(equal).item<float>() == 0);
  CHECK(std::isinf(var(opposite).item<float>()));
  CHECK(stddev(opposite, Axes{}, false, 0).item<float>() == doctest::Approx(1e30));
  CHECK(stddev(small, Axes{}, false, 0).item<float>() == doctest::Approx(1e-30));
  // The mean of equal numbers is theirs in float64 too.
  const Tensor wide = full({10}, 1e26, DType::float64).realize();
  CHECK(layer_norm(wide).to(DType::float32).to_vector<float>()[3] == doctest::Approx(0).epsilon(1e-6));
  CHECK(var(wide).to(DType::float32).item<float>() < 1e-3F);
}

TEST_CASE("rows of many kinds have the moments of their definitions") {
  const bool few = default_device() != Device::eigen();
  const std::vector<std::pair<std::int64_t, std::int64_t>> shapes =
      few ? std::vector<std::pair<std::int64_t, std::int64_t>>{{3, 100}}
          : std::vector<std::pair<std::int64_t, std::int64_t>>{{3, 2},    {5, 3},    {40, 8},   {7, 10},
                                                               {33, 17},  {3, 64},   {65, 100}, {2, 1000},
                                                               {9, 1024}, {2, 1025}, {1, 9000}, {300, 40}};
  for (const Kind& kind : kinds()) {
    for (const auto& [rows, length] : shapes) {
      check_rows(kind, rows, length, false);
      check_rows(kind, rows, length, true);
    }
  }
}

TEST_CASE("moments of what a kernel computes, in one kernel") {
  if (default_device() != Device::eigen()) return;
  const Tensor x = (iota({64, 100}) * 0.01F).realize();
  const auto one = [](const Tensor& y) { return explain(y).kernels.size() == 1; };
  CHECK(one(layer_norm(x)));
  CHECK(one(layer_norm(sin(x) * 3)));
  CHECK(one(rms_norm(x)));
  CHECK(one(var(x, 1)));
  CHECK(one(stddev(x, 0)));
  CHECK(one(layer_norm(x.to(DType::float16).realize())));
}

}  // namespace moments_test
