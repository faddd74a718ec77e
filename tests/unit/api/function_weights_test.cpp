// Weights of captured functions: products read them in panels, which are packed once and kept.
#include <doctest/doctest.h>

#include <cstring>

#include "oriel/debug.hpp"
#include "support/captured_functions.hpp"

namespace function_weights_test {

using namespace oriel;
using oriel::test::numbers;

namespace {

auto layer = [](Tensor x, Tensor w) { return matmul(x, w.permute({1, 0})); };

Tensor weight(std::int64_t rows, std::int64_t columns, float scale = 1) {
  std::int64_t k = 0;
  return Tensor::generate({rows, columns},
                          [&](auto) { return scale * static_cast<float>(++k * 7919 % 1013 - 506) / 97; });
}

/// Do both hold the same bits?
bool same_bits(const Tensor& a, const Tensor& b) {
  const auto x = a.to_vector<float>(), y = b.to_vector<float>();
  return x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size() * sizeof(float)) == 0;
}

}  // namespace

TEST_CASE("a weight is packed at its second call, and kept") {
  const auto f = function(layer);
  const Tensor w = weight(96, 200);
  for (int call = 0; call < 4; ++call) {
    const Tensor x = weight(24, 200, static_cast<float>(call + 1));
    CHECK(same_bits(f(x, w), layer(x, w)));
    const FunctionEntry e = f.entries()[0];
    CHECK(e.packed == (call == 0 ? 0 : 1));
    CHECK(e.packed_bytes >= (call == 0 ? 0 : 96 * 200 * 4));
  }
  CHECK(f.explain().find("packed   1 weight, ") != std::string::npos);
}

TEST_CASE("kept panels follow writes to the weight") {
  const auto f = function(layer);
  Tensor w = weight(96, 200);
  const Tensor x = weight(24, 200);
  for (int call = 0; call < 3; ++call) static_cast<void>(f(x, w).to_vector<float>());
  CHECK(f.entries()[0].packed == 1);
  w.assign(w * 2.0F);
  CHECK(same_bits(f(x, w), layer(x, w)));
  CHECK(f.entries()[0].packed == 0);
  w.select(0, 5).assign(1.0F);
  for (int call = 0; call < 3; ++call) CHECK(same_bits(f(x, w), layer(x, w)));
  CHECK(f.entries()[0].packed == 1);
}

TEST_CASE("weights that change with each call are not kept") {
  const auto f = function(layer);
  const Tensor x = weight(24, 200);
  for (int call = 0; call < 40; ++call) {
    const Tensor w = weight(96, 200, static_cast<float>(call));
    CHECK(same_bits(f(x, w), layer(x, w)));
  }
  CHECK(f.entries()[0].packed == 0);
}

TEST_CASE("several models share an entry, and each keeps its weights") {
  const auto f = function(layer);
  const Tensor a = weight(96, 200), b = weight(96, 200, -3);
  for (int call = 0; call < 4; ++call) {
    const Tensor x = weight(24, 200, static_cast<float>(call + 1));
    CHECK(same_bits(f(x, a), layer(x, a)));
    CHECK(same_bits(f(x, b), layer(x, b)));
  }
  CHECK(f.counts().traces == 1);
  CHECK(f.entries()[0].packed == 2);
}

TEST_CASE("sizes of a batch share the panels of a weight") {
  const auto f = function(layer, {.dynamic = Dynamic::yes});
  const Tensor w = weight(96, 200);
  for (const std::int64_t rows : {24, 30, 17, 300, 1000, 24}) {
    CAPTURE(rows);
    const Tensor x = weight(rows, 200);
    CHECK(same_bits(f(x, w), layer(x, w)));
    if (rows != 24) CHECK(f.entries()[0].packed == 1);
  }
}

TEST_CASE("kernels that are fused row by row keep their weights") {
  if (default_device().kind != DeviceKind::eigen) return;
  const auto layer = [](Tensor x, Tensor w) { return softmax(matmul(x, w.permute({1, 0})), -1); };
  const auto f = function(layer);
  const Tensor w = weight(300, 64, 0.01F);
  for (int call = 0; call < 3; ++call) {
    const Tensor x = weight(700, 64, static_cast<float>(call + 1));
    CHECK(same_bits(f(x, w), layer(x, w)));
  }
  CHECK(f.entries()[0].kernels.size() == 1);
  CHECK(f.entries()[0].packed == 1);
}

TEST_CASE("few rows, weights with an uneven number of columns, batches, views") {
  const auto rows_of_memory = [](Tensor x, Tensor w) { return matmul(x, w) + 1.0F; };
  for (const std::int64_t rows : {1, 2, 3, 4, 5, 70, 300}) {
    for (const std::int64_t columns : {37, 64, 1000}) {
      CAPTURE(rows);
      CAPTURE(columns);
      const auto f = function(rows_of_memory);
      const auto g = function(layer);
      const Tensor x = weight(rows, 130), w = weight(130, columns), v = weight(columns, 130);
      for (int call = 0; call < 3; ++call) {
        CHECK(same_bits(f(x, w), rows_of_memory(x, w)));
        CHECK(same_bits(g(x, v), layer(x, v)));
      }
    }
  }
  const auto batched = [](Tensor x, Tensor w) { return matmul(x, w.permute({0, 2, 1})); };
  const auto f = function(batched);
  const Tensor x = weight(3 * 20, 130).reshape({3, 20, 130}), w = weight(3 * 50, 130).reshape({3, 50, 130});
  for (int call = 0; call < 3; ++call) CHECK(same_bits(f(x, w), batched(x, w)));
  CHECK(f.entries()[0].packed == 1);
  // Two parts of one memory.
  const Tensor both = weight(192, 200);
  const auto g = function(layer);
  for (int call = 0; call < 3; ++call) {
    for (const std::int64_t first : {0, 96}) {
      const Tensor part = both.shrink({{first, first + 96}, {0, 200}});
      CHECK(same_bits(g(weight(24, 200), part), layer(weight(24, 200), part)));
    }
  }
}

TEST_CASE("memory() counts kept panels, which go with the function") {
  const Tensor w = weight(512, 512);
  const Tensor x = weight(32, 512);
  static_cast<void>(layer(x, w).to_vector<float>());
  const std::size_t before = memory().live;
  {
    const auto f = function(layer);
    for (int call = 0; call < 3; ++call) static_cast<void>(f(x, w).to_vector<float>());
    CHECK(f.entries()[0].packed == 1);
    CHECK(memory().live >= before + 512 * 512 * 4);
  }
  CHECK(memory().live == before);
}

TEST_CASE("panels of a freed weight are not taken for those of another one") {
  const auto f = function(layer);
  const Tensor x = weight(24, 200);
  for (int k = 0; k < 20; ++k) {
    const Tensor w = weight(96, 200, static_cast<float>(k + 1));  // often where the last one was
    for (int call = 0; call < 3; ++call) CHECK(same_bits(f(x, w), layer(x, w)));
    CHECK(f.entries()[0].packed == 1);
  }
}

}  // namespace function_weights_test
