// A loop whose shapes were all seen in its first round: nothing more is planned, compiled or allocated from the system.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>
#include <random>
#include <thread>

#include "oriel/oriel.hpp"
#include "runtime/executor.hpp"

namespace {

// Counts of allocated blocks: all, and those larger than a node of a graph.
std::atomic<long> alive{0};
std::atomic<long> large{0};
constexpr std::size_t kLarge = 4096;

}  // namespace

// A program's operator new replaces the library's, so the library's calls end here too.
__attribute__((noinline)) void* operator new(std::size_t size) {
  ++alive;
  if (size >= kLarge) ++large;
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
__attribute__((noinline)) void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  try {
    return operator new(size);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
__attribute__((noinline)) void operator delete(void* memory) noexcept {
  if (memory != nullptr) --alive;
  std::free(memory);
}
__attribute__((noinline)) void operator delete(void* memory, std::size_t) noexcept {
  if (memory != nullptr) --alive;
  std::free(memory);
}

using namespace oriel;

namespace {

std::vector<float> numbers(std::int64_t n) {
  static std::mt19937 random(1);
  std::uniform_real_distribution<float> range(-1, 1);
  std::vector<float> v(static_cast<std::size_t>(n));
  for (float& x : v) x = range(random);
  return v;
}

}  // namespace

TEST_CASE("the counter counts") {
  const long before = alive, large_before = large;
  const std::vector<char> v(kLarge);
  CHECK(alive - before == 1);
  CHECK(large - large_before == 1);
}

TEST_CASE("a perceptron over batches of 1 to 64: no new kernel, no compile, no fresh block after the first round") {
  constexpr std::int64_t kMost = 64;
  const std::vector<float> in = numbers(kMost * 784), a = numbers(784 * 512), b = numbers(512 * 512),
                           c = numbers(512 * 10), d = numbers(512);
  const Tensor x = Tensor::borrow(in, {kMost, 784}), u = Tensor::borrow(a, {784, 512});
  const Tensor v = Tensor::borrow(b, {512, 512}), w = Tensor::borrow(c, {512, 10}), bias = Tensor::borrow(d, {512});
  float seen = 0;
  const auto round = [&] {
    for (std::int64_t batch = 1; batch <= kMost; ++batch) {
      const Tensor rows = x.shrink({{0, batch}, {0, 784}});
      const Tensor y = matmul(relu(matmul(relu(matmul(rows, u) + bias), v) + bias), w);
      y.realize();
      seen = y.shrink({{0, 1}, {0, 1}}).reshape({}).item<float>();
    }
  };
  round();
  const float first = seen;
  // The tables grow once more when the second round finds what the first one stored.
  round();
  const runtime::Counters counters = runtime::counters();
  const std::uint64_t blocks = memory().system_allocations;
  const std::uint64_t requests = memory().requests;
  const long alive_before = alive, large_before = large;
  for (int n = 0; n < 3; ++n) round();
  CHECK(seen == first);
  CHECK(runtime::counters().schedules_built == counters.schedules_built);
  CHECK(runtime::counters().kernels_compiled == counters.kernels_compiled);
  CHECK(runtime::counters().kernels_launched - counters.kernels_launched >= 3 * 3 * kMost);
  CHECK(memory().system_allocations == blocks);
  CHECK(memory().requests > requests);
  // On a busy machine a thread of the pool may have its first share, and make its scratch of a few blocks, only now:
  // once each. What a round leaves behind would be hundreds of blocks.
  const long threads = std::max(1U, std::thread::hardware_concurrency());
  CHECK(alive.load() - alive_before <= 4 * threads);
  CHECK(large.load() - large_before <= threads);
}
