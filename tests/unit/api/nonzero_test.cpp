// nonzero, masked_select and unique: results whose sizes depend on data.
#include "oriel/nonzero.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include "oriel/oriel.hpp"

using namespace oriel;

namespace {

using Ints64 = std::vector<std::int64_t>;

Ints64 values(const Tensor& x) { return x.to_vector<std::int64_t>(); }

}  // namespace

TEST_CASE("nonzero gives the positions in row-major order") {
  const Tensor found = nonzero(Tensor::of<int>({{0, 5, 0}, {6, 0, -1}}));
  CHECK(found.shape() == Shape{3, 2});
  CHECK(found.dtype() == DType::int64);
  CHECK(values(found) == Ints64{0, 1, 1, 0, 1, 2});
  CHECK(values(nonzero(Tensor::of<int>({{0, 5}, {6, 0}}).transpose())) == Ints64{0, 1, 1, 0});
  CHECK(values(nonzero(Tensor::of<float>({0, NAN, -0.0F, 1e-40F}))) == Ints64{1, 3});
  CHECK(nonzero(zeros({4, 5})).shape() == Shape{0, 2});
  CHECK(nonzero(zeros({0, 5})).shape() == Shape{0, 2});
  CHECK(nonzero(scalar(3)).shape() == Shape{1, 0});
  CHECK(nonzero(0).shape() == Shape{0, 0});
  CHECK(values(nonzero(arange(5) > 2)) == Ints64{3, 4});  // pending
}

TEST_CASE("masked_select broadcasts both and takes bool alone") {
  const Tensor x = Tensor::of<float>({{1, 2}, {3, 4}});
  CHECK(masked_select(x, x > 2).to_vector<float>() == std::vector<float>{3, 4});
  CHECK(masked_select(x.transpose(), x > 1).to_vector<float>() == std::vector<float>{3, 2, 4});
  CHECK(masked_select(x, Tensor::of<bool>({false, true})).to_vector<float>() == std::vector<float>{2, 4});
  CHECK(masked_select(Tensor::of<int>({7, 8}), ones({2, 1}, DType::bool_)).to_vector<int>() ==
        std::vector<int>{7, 8, 7, 8});
  CHECK(masked_select(x, x > 9).shape() == Shape{0});
  CHECK(masked_select(2.5, true).to_vector<float>() == std::vector<float>{2.5F});
  CHECK_THROWS_WITH_AS(masked_select(x, x), doctest::Contains("masked_select: the mask is float32; it must be bool"),
                       DTypeError);
  CHECK_THROWS_AS(masked_select(x, ones({3}, DType::bool_)), ShapeError);
}

TEST_CASE("unique: values, inverse and counts") {
  const UniqueElements u = unique_all(Tensor::of<int>({{3, 1, 3}, {2, 1, 3}}));
  CHECK(u.values.to_vector<int>() == std::vector<int>{1, 2, 3});
  CHECK(u.inverse.shape() == Shape{2, 3});
  CHECK(values(u.inverse) == Ints64{2, 0, 2, 1, 0, 2});
  CHECK(values(u.counts) == Ints64{2, 1, 3});
  CHECK(unique(Tensor::of<bool>({true, false, true})).to_vector<bool>() == std::vector<bool>{false, true});
  CHECK(unique(Tensor::of<float>({NAN, 1, NAN, 1})).shape() == Shape{3});  // as in PyTorch: a NaN equals no other NaN
  CHECK(unique(Tensor::of<float>({0.0F, -0.0F})).shape() == Shape{1});
  CHECK(unique(zeros({0, 3})).shape() == Shape{0});
  CHECK(unique_all(zeros({0, 3})).inverse.shape() == Shape{0, 3});
  CHECK(unique_all(zeros({0, 3})).counts.shape() == Shape{0});
  CHECK(unique(5).to_vector<std::int64_t>() == Ints64{5});
}

TEST_CASE("random tensors against the standard library") {
  std::mt19937 random(7);
  for (int round = 0; round < 60; ++round) {
    const std::int64_t rows = 1 + static_cast<std::int64_t>(random() % 9);
    const std::int64_t columns = 1 + static_cast<std::int64_t>(random() % 200);
    const auto below = 1 + static_cast<int>(random() % 12);
    const Tensor data = Tensor::generate(
        {rows, columns}, [&](auto) { return static_cast<std::int16_t>(static_cast<int>(random() % 1000) % below); });
    const Tensor x = round % 2 == 0 ? data : data.transpose();
    const std::vector<std::int16_t> v = x.to_vector<std::int16_t>();
    Ints64 found;
    std::vector<std::int16_t> chosen;
    std::map<std::int16_t, std::int64_t> count;
    for (std::size_t k = 0; k < v.size(); ++k) {
      const auto width = static_cast<std::size_t>(x.size(1));
      if (v[k] != 0)
        found.insert(found.end(), {static_cast<std::int64_t>(k / width), static_cast<std::int64_t>(k % width)});
      if (v[k] > 2) chosen.push_back(v[k]);
      ++count[v[k]];
    }
    CHECK(values(nonzero(x)) == found);
    CHECK(masked_select(x, x > 2).to_vector<std::int16_t>() == chosen);
    const UniqueElements u = unique_all(x);
    const std::vector<std::int16_t> distinct = u.values.to_vector<std::int16_t>();
    Ints64 counts;
    std::vector<std::int16_t> keys;
    for (const auto& [key, n] : count) {
      keys.push_back(key);
      counts.push_back(n);
    }
    CHECK(distinct == keys);
    CHECK(unique(x).to_vector<std::int16_t>() == keys);
    CHECK(values(u.counts) == counts);
    const Ints64 inverse = values(u.inverse);
    for (std::size_t k = 0; k < v.size(); ++k) REQUIRE(distinct[static_cast<std::size_t>(inverse[k])] == v[k]);
  }
}

TEST_CASE("nonzero and its relatives are errors in a captured function, and work between two") {
  const auto caught = [](const auto& f, const char* wanted) {
    CHECK_THROWS_WITH_AS(f(Tensor::of<float>({1, 2})), doctest::Contains(wanted), DataDependentError);
  };
  caught(oriel::function([](Tensor x) { return nonzero(x); }), "nonzero: the captured function");
  caught(oriel::function([](Tensor x) { return masked_select(x, x > 1); }), "masked_select: the captured function");
  caught(oriel::function([](Tensor x) { return unique(x); }), "unique: the captured function");
  caught(oriel::function([](Tensor x) { return unique_all(x).counts; }), "unique_all: the captured function");
  CHECK_THROWS_AS(nonzero(zeros({2}).to(Device::null())), DeviceError);
  // Detection in two stages: compute scores, take the positions of good ones, and compute with those.
  const auto score = oriel::function([](Tensor boxes) { return sum(boxes, 1) > 5; });
  const auto refine = oriel::function([](Tensor boxes) { return boxes * 2; });
  for (const float shift : {0.F, 1.F, 2.F}) {
    const Tensor boxes = Tensor::of<float>({{1, 2}, {3, 4}, {5, 6}, {2, 2}}) + shift;
    const Tensor good = nonzero(score(boxes));
    const Tensor refined = refine(take(boxes, good.reshape({good.numel()}), 0));
    CHECK(refined.to_vector<float>() == (masked_select(boxes, (sum(boxes, 1, true) > 5)) * 2).to_vector<float>());
  }
  CHECK(score.counts().traces == 1);
}
