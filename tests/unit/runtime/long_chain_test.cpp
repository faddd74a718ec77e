// A million pending nodes need no deep stack and only linear time.
#include <doctest/doctest.h>

#include <sys/resource.h>

#include <chrono>

#include "oriel/oriel.hpp"

namespace long_chain_test {

using namespace oriel;

namespace {
double seconds_for(int nodes) {
  const Tensor one = full({4}, 1.0F).realize();
  const auto start = std::chrono::steady_clock::now();
  {
    Tensor t = one;
    for (int i = 0; i < nodes; ++i) t = t + one;
    CHECK(t.to_vector<float>()[3] == static_cast<float>(nodes) + 1);
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}
}  // namespace

TEST_CASE("a chain of a million nodes builds, runs and is freed on a small stack") {
  // From here on the main thread's stack cannot grow beyond this. A recursion over the chain would need hundreds of
  // megabytes.
  const rlimit small{1 << 20, 1 << 20};
  setrlimit(RLIMIT_STACK, &small);
  set_lazy_limits({.nodes = 0, .bytes = 0});
  const double tenth = seconds_for(100'000);
  const double whole = seconds_for(1'000'000);
  MESSAGE("100,000 nodes: ", tenth, " s; 1,000,000 nodes: ", whole, " s");
  // Ten times as many nodes: quadratic time would take a hundred times as long.
  CHECK(whole < 60 * tenth + 1);
  set_lazy_limits({});
}

TEST_CASE("a long chain that nobody asks for is freed without running") {
  set_lazy_limits({.nodes = 0, .bytes = 0});
  {
    Tensor t = full({4}, 1.0F).realize();
    for (int i = 0; i < 300'000; ++i) t = exp(t);
  }
  set_lazy_limits({});
}

TEST_CASE("long chains of writes, whole and in part") {
  set_lazy_limits({.nodes = 0, .bytes = 0});
  Tensor x = full({8}, 0.0F).realize();
  for (int i = 0; i < 100'000; ++i) x += 1;
  CHECK(x.to_vector<float>()[3] == 100'000);
  Tensor part = x.shrink({{2, 4}});
  for (int i = 0; i < 10'000; ++i) part -= 1;
  CHECK(x.to_vector<float>() ==
        std::vector<float>{100'000, 100'000, 90'000, 90'000, 100'000, 100'000, 100'000, 100'000});
  set_lazy_limits({});
}

TEST_CASE("ten thousand fused ops are one kernel") {
  set_lazy_limits({.nodes = 0, .bytes = 0});
  Tensor t = full({100}, 1.0F).realize();
  for (int i = 0; i < 5000; ++i) t = t * 1.0001F + 0.25F;
  double expected = 1;
  for (int i = 0; i < 5000; ++i) expected = expected * 1.0001 + 0.25;
  CHECK(explain(t).kernels.size() == 1);
  CHECK(t.to_vector<float>()[99] == doctest::Approx(expected).epsilon(1e-3));
  set_lazy_limits({});
}

}  // namespace long_chain_test
