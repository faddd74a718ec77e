// Laziness is bounded: a loop that never reads stays flat.
#include <doctest/doctest.h>

#include <cstdlib>

#include "api/call.hpp"
#include "oriel/oriel.hpp"

using namespace oriel;

namespace {

// The tests that follow have the bounds that were there.
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
