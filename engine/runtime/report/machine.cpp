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

// One rounding for a product and a sum, as processors with such an instruction do it.
#if defined(__clang__)
#define ORIEL_CONTRACTS
#else
#define ORIEL_CONTRACTS __attribute__((optimize("O2", "fp-contract=fast")))
#endif
#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
#define ORIEL_CLONES __attribute__((target_clones("avx512f", "arch=haswell", "default")))
#else
#define ORIEL_CLONES
#endif
constexpr int kChains = 12;
#define ORIEL_EACH_CHAIN(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11)
#define ORIEL_BEGIN(k) Lanes s##k = Lanes{} + (k);
#define ORIEL_STEP(k) s##k = s##k * a + b;
#define ORIEL_END(k) total += s##k[0];
// Independent chains of `steps` multiply-adds in registers, in vectors of so many bytes. What a processor lacks is
// slower, not wrong.
#define ORIEL_MULTIPLY_ADDS(function, bytes)                   \
  ORIEL_CONTRACTS ORIEL_CLONES float function(int steps) {     \
    typedef float Lanes __attribute__((vector_size(bytes)));   \
    ORIEL_EACH_CHAIN(ORIEL_BEGIN)                              \
    const Lanes a = Lanes{} + 1.0000001F, b = Lanes{} + 1e-7F; \
    for (int k = 0; k < steps; ++k) {                          \
      ORIEL_EACH_CHAIN(ORIEL_STEP)                             \
    }                                                          \
    float total = 0;                                           \
    ORIEL_EACH_CHAIN(ORIEL_END)                                \
    return total;                                              \
  }
ORIEL_MULTIPLY_ADDS(multiply_adds_32, 32)
ORIEL_MULTIPLY_ADDS(multiply_adds_64, 64)
#undef ORIEL_MULTIPLY_ADDS
#undef ORIEL_END
#undef ORIEL_STEP
#undef ORIEL_BEGIN
#undef ORIEL_EACH_CHAIN
#undef ORIEL_CLONES
#undef ORIEL_CONTRACTS

}  // namespace

MachineLimits measure_machine() {
  MachineLimits limits;
  const int threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  // Beyond the caches, and at most half a gigabyte in all.
  const std::size_t bytes = std::min(std::size_t{1} << 25, (std::size_t{1} << 28) / static_cast<std::size_t>(threads));
  std::vector<std::vector<char>> from(static_cast<std::size_t>(threads)), to(static_cast<std::size_t>(threads));
  for (auto& block : from) block.assign(bytes, 1);
  for (auto& block : to) block.assign(bytes, 2);
  const double copied = shortest(threads, 4, [&](int t) {
    std::memcpy(to[static_cast<std::size_t>(t)].data(), from[static_cast<std::size_t>(t)].data(), bytes);
  });
  limits.bytes_per_second = 2.0 * static_cast<double>(bytes) * threads / copied;
  constexpr int kSteps = 2'000'000;  // some milliseconds, so that starting threads does not count
  std::vector<float> kept(static_cast<std::size_t>(threads) * 16);  // each thread's result on a line of its own
  const auto measure = [&](float (*multiply_adds)(int), int lanes) {
    const double seconds =
        shortest(threads, 3, [&](int t) { kept[static_cast<std::size_t>(t) * 16] += multiply_adds(kSteps); });
    limits.flops_per_second = std::max(limits.flops_per_second, 2.0 * kChains * lanes * kSteps * threads / seconds);
  };
  measure(multiply_adds_32, 8);
  measure(multiply_adds_64, 16);
  return limits;
}

}  // namespace oriel::runtime
