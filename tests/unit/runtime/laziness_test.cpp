// Laziness is bounded: a loop that never asks for a result needs no more memory over time.
#include <doctest/doctest.h>

#include "graph/node.hpp"
#include "memory/host.hpp"
#include "oriel/oriel.hpp"
#include "runtime/executor.hpp"

namespace laziness_test {

using namespace oriel;

TEST_CASE("a loop that keeps adding stays flat, and is right") {
  set_lazy_limits({.nodes = 100, .bytes = std::int64_t{1} << 30});
  const Tensor one = full({1000}, 1.0F).realize();
  Tensor t = one;
  mem::host_allocator()->reset_peak();
  const std::size_t before = mem::host_allocator()->statistics().live;
  const std::uint64_t launches = runtime::counters().kernels_launched;
  for (int i = 0; i < 5000; ++i) t = t + one;
  CHECK(runtime::counters().kernels_launched - launches >= 49);
  CHECK(mem::host_allocator()->statistics().peak < before + 20 * 4000);
  CHECK(t.slice({{.start = 0, .stop = 1}}).item<float>() == 5001);
  set_lazy_limits({});
}

TEST_CASE("a loop that takes new data each turn keeps no more alive than the bound") {
  set_lazy_limits({.nodes = 8192, .bytes = 1 << 20});
  Tensor t = full({25000}, 0.0F).realize();
  mem::host_allocator()->reset_peak();
  for (int i = 0; i < 200; ++i) t = t + Tensor::from(std::vector<float>(25000, 1.0F));
  CHECK(mem::host_allocator()->statistics().peak < (std::size_t{4} << 20));
  CHECK(t.slice({{.start = 7, .stop = 8}}).item<float>() == 200);
  set_lazy_limits({});
}

TEST_CASE("with the bounds off nothing runs before it is asked for") {
  set_lazy_limits({.nodes = 0, .bytes = 0});
  const Tensor one = full({4}, 1.0F).realize();
  Tensor t = one;
  const std::uint64_t launches = runtime::counters().kernels_launched;
  for (int i = 0; i < 20000; ++i) t = t + one;
  CHECK(runtime::counters().kernels_launched == launches);
  CHECK(t.to_vector<float>()[0] == 20001);
  set_lazy_limits({});
}

}  // namespace laziness_test
