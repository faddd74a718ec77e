// Laziness is bounded: a loop that never reads a result does not grow without end.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>

#include "formula/call.hpp"
#include "graph/walk.hpp"
#include "oriel/oriel.hpp"
#include "runtime/executor.hpp"

namespace lazy_test {

using namespace oriel;

namespace {

// Restores the limits, so that later tests are not affected.
struct Restored {
  LazyLimits before = lazy_limits();
  ~Restored() { set_lazy_limits(before); }
};

}  // namespace

TEST_CASE("a long chain is realised at the bound on nodes") {
  const Restored restored;
  set_lazy_limits({.nodes = 100, .bytes = 0});
  Tensor x = Tensor::of<float>({0, 1});
  std::uint32_t deepest = 0;
  for (int k = 0; k < 1000; ++k) {
    x += 1;
    if (!x.realized()) deepest = std::max(deepest, detail::Access::node(x)->depth);
  }
  CHECK(deepest <= 100);
  CHECK(x.to_vector<float>() == std::vector<float>{1000, 1001});
}

TEST_CASE("data that only pending work holds is let go at the bound on bytes") {
  const Restored restored;
  set_lazy_limits({.nodes = 0, .bytes = 40'000});
  int live = 0;
  int most = 0;
  Tensor x = zeros({1000});
  for (int k = 0; k < 200; ++k) {
    auto* data = new float[1000]{1};
    ++live;
    most = std::max(most, live);
    x += Tensor::adopt(data, {1000}, [&](float* p) {
      delete[] p;
      --live;
    });
  }
  CHECK(most <= 30);
  CHECK(x.to_vector<float>()[0] == 200);
}

TEST_CASE("data that the program holds is no reason to realise") {
  const Restored restored;
  set_lazy_limits({.nodes = 0, .bytes = 1000});
  const Tensor big = Tensor::from(std::vector<float>(1000, 1));
  const Tensor sum_of_squares = sum(big * big) + sum(big);
  CHECK_FALSE(sum_of_squares.realized());
  Tensor y = big;
  for (int k = 0; k < 100; ++k) y = y * big + big;
  CHECK_FALSE(y.realized());
}

TEST_CASE("a bound of 0 is none, and the null device is left alone") {
  const Restored restored;
  set_lazy_limits({.nodes = 0, .bytes = 0});
  Tensor x = Tensor::of<float>({0, 1});
  for (int k = 0; k < 10'000; ++k) x += 1;
  CHECK_FALSE(x.realized());
  set_lazy_limits({.nodes = 10, .bytes = 10});
  set_default_device(Device::null());
  Tensor y = Tensor::of<float>({0, 1});
  for (int k = 0; k < 100; ++k) y += 1;
  CHECK_FALSE(y.realized());
  set_default_device(Device::eigen());
}

// If every operation counted its nodes anew, each of these loops would visit about ten million nodes.
TEST_CASE("recording a stencil in place costs a few visits an operation") {
  set_lazy_limits({});
  const std::int64_t before = graph::held_bytes_visits();
  const std::uint64_t launches = runtime::counters().kernels_launched;
  Tensor x = full({1024, 1024}, 1.0F).realize();
  const std::uint64_t first = runtime::counters().kernels_launched;
  const auto part = [&](std::int64_t row, std::int64_t column) {
    return x.shrink({{row, row + 1022}, {column, column + 1022}});
  };
  for (int step = 0; step < 800; ++step) {
    Tensor middle = part(1, 1);
    middle.assign((part(0, 1) + part(2, 1) + part(1, 0) + part(1, 2)) * 0.25F);
  }
  CHECK(first - launches <= 1);
  CHECK(runtime::counters().kernels_launched == first);
  CHECK_FALSE(x.realized());
  CHECK(graph::held_bytes_visits() - before > 0);
  CHECK(graph::held_bytes_visits() - before < 3 * 800 * 10);
}

TEST_CASE("recording a training loop that forgets to realise costs a few visits an operation") {
  set_lazy_limits({});
  Tensor weights[2] = {full({512, 512}, 0.01F).realize(), full({512, 512}, 0.01F).realize()};
  const Tensor x = full({64, 512}, 1.0F).realize();
  const Tensor wanted = full({64, 512}, 0.5F).realize();
  const std::int64_t before = graph::held_bytes_visits();
  std::int64_t operations = 0;
  for (int step = 0; step < 100; ++step) {
    const Tensor hidden = relu(matmul(x, weights[0]));
    const Tensor error = matmul(hidden, weights[1]) - wanted;
    const Tensor back = where(hidden > 0, matmul(error, weights[1].transpose()), 0.0F);
    weights[1] -= matmul(hidden.transpose(), error) * 1e-4F;
    weights[0] -= matmul(x.transpose(), back) * 1e-4F;
    operations += 40;
  }
  CHECK_FALSE(weights[0].realized());
  CHECK(graph::held_bytes_visits() - before > 0);
  CHECK(graph::held_bytes_visits() - before < 4 * operations);
  weights[0] = weights[1] = x;
}

#ifndef ORIEL_NO_HISTOGRAMS
TEST_CASE("what is counted is computed once, though the host reads its ends first") {
  const Tensor x = sin(arange(6000).to(DType::float32)).reshape({1000, 6}).realize();
  const std::uint64_t before = runtime::counters().kernels_launched;
  const Tensor nearest = argmin(x, 1);
  const Tensor counts = bincount(nearest, 6);
  realize({nearest, counts});
  // The positions, their ends, the one that is added, and the sums.
  CHECK(runtime::counters().kernels_launched - before <= 5);
  CHECK(sum(counts).item<std::int64_t>() == 1000);
}
#endif

}  // namespace lazy_test
