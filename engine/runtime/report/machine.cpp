#include "runtime/report/machine.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <thread>
#include <vector>

namespace oriel::runtime {
namespace {

using Clock = std::chrono::steady_clock;

/// The shortest time of `rounds` rounds in which every thread runs f(thread).
template <class F>
double shortest(int threads, int rounds, const F& f) {
  double best = 1e9;
  for (int round = 0; round < rounds; ++round) {
    const auto start = Clock::now();
    std::vector<std::thread> others;
    for (int t = 1; t < threads; ++t) others.emplace_back([&f, t] { f(t); });
    f(0);
    for (std::thread& thread : others) thread.join();
    best = std::min(best, std::chrono::duration<double>(Clock::now() - start).count());
  }
  return best;
}

typedef float Lanes __attribute__((vector_size(32)));

/// 16 independent chains of `steps` multiply-adds.
// One rounding for a product and a sum, as processors with such an instruction do it.
__attribute__((optimize("O2", "fp-contract=fast")))
#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
__attribute__((target_clones("avx512f", "arch=haswell", "default")))
#endif
float multiply_adds(int steps) {
  Lanes sums[12] = {};
  const Lanes a = Lanes{} + 1.0000001F, b = Lanes{} + 1e-7F;
  for (int k = 0; k < steps; ++k) {
#pragma GCC unroll 12
    for (Lanes& sum : sums) sum = sum * a + b;
  }
  float total = 0;
  for (const Lanes& sum : sums) total += sum[0];
  return total;
}

}  // namespace

MachineLimits measure_machine(int threads) {
  MachineLimits limits;
  constexpr std::size_t kBytes = std::size_t{1} << 25;
  std::vector<std::vector<char>> from(static_cast<std::size_t>(threads)), to(static_cast<std::size_t>(threads));
  for (auto& block : from) block.assign(kBytes, 1);
  for (auto& block : to) block.assign(kBytes, 2);
  const double copied = shortest(threads, 4, [&](int t) {
    std::memcpy(to[static_cast<std::size_t>(t)].data(), from[static_cast<std::size_t>(t)].data(), kBytes);
  });
  limits.bytes_per_second = 2.0 * static_cast<double>(kBytes) * threads / copied;
  constexpr int kSteps = 200'000;
  std::vector<float> kept(static_cast<std::size_t>(threads) * 16);  // each thread's result on a line of its own
  const double multiplied =
      shortest(threads, 3, [&](int t) { kept[static_cast<std::size_t>(t) * 16] += multiply_adds(kSteps); });
  limits.flops_per_second = 2.0 * 12 * 8 * kSteps * threads / multiplied;
  return limits;
}

}  // namespace oriel::runtime
