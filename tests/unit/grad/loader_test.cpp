// Batches: every row once an epoch, in an order of key and epoch alone; mapped arrays; initialisers of weights.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "oriel/oriel.hpp"
#include "support/temporary_folder.hpp"

namespace oriel::loader_test {
namespace {

std::vector<std::int64_t> rows_of_epoch(const Batches<std::pair<Tensor, Tensor>>& data, std::int64_t epoch) {
  std::vector<std::int64_t> out;
  for (const auto& [x, y] : data.epoch(epoch)) {
    const std::vector<std::int64_t> rows = y.to_vector<std::int64_t>();
    CHECK(all(x[0] == y[0] * 2).item<bool>());
    out.insert(out.end(), rows.begin(), rows.end());
  }
  return out;
}

}  // namespace

TEST_CASE("an epoch has every row once, in an order of its own") {
  const std::pair arrays(arange(23).unsqueeze(1) * 2, arange(23));
  const Batches data(arrays, Key(7), {.size = 5});
  CHECK(data.count() == 5);
  CHECK(data.rows() == 23);
  const std::vector<std::int64_t> first = rows_of_epoch(data, 0), second = rows_of_epoch(data, 1);
  CHECK(first != second);
  CHECK(first == rows_of_epoch(Batches(arrays, Key(7), {.size = 5}), 0));
  CHECK(first == rows_of_epoch(Batches(arrays, Key(7), {.size = 4}), 0));
  CHECK(first != rows_of_epoch(Batches(arrays, Key(8), {.size = 5}), 0));
  std::vector<std::int64_t> sorted = first, all(23);
  std::sort(sorted.begin(), sorted.end());
  std::iota(all.begin(), all.end(), 0);
  CHECK(sorted == all);
  CHECK(std::get<1>(data.epoch(1)[2]).to_vector<std::int64_t>() ==
        std::vector<std::int64_t>(second.begin() + 10, second.begin() + 15));
  CHECK(std::get<0>(data.epoch(0)[4]).shape() == Shape{3, 1});
}

TEST_CASE("without shuffling, and without the last rows") {
  const std::pair arrays(arange(10).unsqueeze(1) * 2, arange(10));
  const Batches data(arrays, Key(1), {.size = 4, .shuffle = false, .drop_last = true});
  CHECK(data.count() == 2);
  CHECK(rows_of_epoch(data, 3) == std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6, 7});
}

TEST_CASE("mapped arrays") {
  const test::TemporaryFolder folder;
  const std::string path = folder / "x.npy";
  const Tensor x = (arange(60) % 7).to(DType::float32).reshape({20, 3});
  write_npy(path, x);
  const Tensor mapped = map_npy(path);
  CHECK(mapped.dtype() == DType::float32);
  CHECK(all(mapped == x).item<bool>());
  const Batches data(mapped, Key(2), {.size = 20});
  CHECK(sum(data.epoch(0)[0]).item<float>() == sum(x).item<float>());
  Tensor written = map_npy(path);
  written[0] = 100;
  written.realize();
  CHECK(all(map_npy(path) == x).item<bool>());
  for (const DType dtype : {DType::bool_, DType::int16, DType::float64}) {
    write_npy(path, x.to(dtype));
    CHECK(all(map_npy(path) == x.to(dtype)).item<bool>());
  }
  write_npy(path, zeros({0, 3}));
  CHECK(map_npy(path).shape() == Shape{0, 3});
  CHECK_THROWS_AS((void)map_npy(folder.path()), IoError);
}

TEST_CASE("errors of batches") {
  CHECK_THROWS_WITH_AS(Batches(ones({3}), Key(1), {.size = 0}), "Batches: a batch of 0 rows; give at least 1",
                       ArgumentError);
  CHECK_THROWS_WITH_AS(Batches(std::pair(ones({3, 2}), ones({4}))),
                       "Batches: arrays (3, 2) and (4) differ in their number of rows", ShapeError);
  CHECK_THROWS_WITH_AS(Batches(scalar(1.0F)), "Batches: an array has no axes, so no rows", ShapeError);
}

TEST_CASE("weights have the deviations of their names") {
  const Shape shape{40, 30, 3, 3};  // fan in 270, fan out 360
  const auto deviation = [](const Tensor& x) { return std::sqrt(mean(square(x)).item<double>()); };
  const auto near = [](double want) { return doctest::Approx(want).epsilon(0.03); };
  const WeightOptions wide{.gain = 1, .dtype = DType::float64};
  CHECK(deviation(xavier_uniform(Key(1), shape, wide)) == near(std::sqrt(2.0 / 630)));
  CHECK(max(abs(xavier_uniform(Key(1), shape, wide))).item<double>() <= std::sqrt(6.0 / 630));
  CHECK(deviation(xavier_normal(Key(1), shape, wide)) == near(std::sqrt(2.0 / 630)));
  WeightOptions relu = wide;
  relu.gain = std::sqrt(2.0);
  CHECK(deviation(he_normal(Key(2), shape, relu)) == near(std::sqrt(2.0 / 270)));
  relu.fan = Fan::out;
  CHECK(deviation(he_uniform(Key(3), shape, relu)) == near(std::sqrt(2.0 / 360)));
  const Tensor truncated = truncated_normal_weights(Key(4), shape, wide);
  CHECK(max(abs(truncated)).item<double>() <= 2 / std::sqrt(270.0));
  for (const Shape& s : {Shape{5, 8}, Shape{8, 5}, Shape{4, 2, 3}}) {
    const Tensor w = orthogonal(Key(5), s, {.gain = 2, .dtype = DType::float64}).reshape({s[0], -1});
    const Tensor square = s[0] == 8 ? matmul(w.transpose(), w) : matmul(w, w.transpose());
    CHECK(allclose(square, eye(square.size(0)).to(DType::float64) * 4));
  }
  CHECK(he_normal(Key(6), {4, 4}).dtype() == DType::float32);
  CHECK_THROWS_WITH_AS((void)orthogonal(Key(1), {3}),
                       "orthogonal: (3) has 1 axes; weights have at least two, (out, in, kernel...)", ShapeError);
}

}  // namespace oriel::loader_test
