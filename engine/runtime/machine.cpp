#include "runtime/machine.hpp"

#include <algorithm>
#include <barrier>
#include <cstddef>
#include <cstring>
#include <ctime>
#include <thread>
#include <vector>

namespace oriel::runtime {
namespace {

/// Seconds of the processor in this thread: other programs that run meanwhile do not count.
double thread_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// The shortest time of `rounds` rounds in which every thread runs f(thread).
template <class F>
double shortest(int threads, int rounds, const F& f) {
  std::barrier start(threads);
  std::vector<double> took(static_cast<std::size_t>(threads));
  double best = 1e9;
  const auto work = [&](int t) {
    for (int round = 0; round < rounds; ++round) {
      start.arrive_and_wait();
      const double begin = thread_seconds();
      f(t);
      took[static_cast<std::size_t>(t)] = thread_seconds() - begin;
      start.arrive_and_wait();
      if (t == 0) best = std::min(best, std::ranges::max(took));
    }
  };
  std::vector<std::thread> others;
  for (int t = 1; t < threads; ++t) others.emplace_back(work, t);
  work(0);
  for (std::thread& thread : others) thread.join();
  return best;
}

/// Memory of the threads: what each copies from, and to.
struct Blocks {
  Blocks(int threads, std::size_t bytes) : from(static_cast<std::size_t>(threads)), to(from.size()) {
    for (auto& block : from) block.assign(bytes, 1);
    for (auto& block : to) block.assign(bytes, 2);
  }
  std::vector<std::vector<char>> from, to;
};

/// Bytes read and written a second by copies of `bytes` in all, again and again, by as many threads as share so much
/// work.
double copied_per_second(Blocks& blocks, std::size_t bytes) {
  constexpr std::size_t kShare = std::size_t{64} << 10;  // less is not worth a second thread
  constexpr std::size_t kMoved = std::size_t{8} << 20;   // in a round, of each thread, so that its start does not count
  const std::size_t threads = std::clamp<std::size_t>(bytes / kShare, 1, blocks.from.size());
  const std::size_t block = bytes / 2 / threads, times = std::max<std::size_t>(1, kMoved / (2 * block));
  const double seconds = shortest(static_cast<int>(threads), 4, [&](int t) {
    for (std::size_t k = 0; k < times; ++k) {
      std::memcpy(blocks.to[static_cast<std::size_t>(t)].data(), blocks.from[static_cast<std::size_t>(t)].data(),
                  block);
      asm volatile("" : : : "memory");  // each copy counts
    }
  });
  return 2.0 * static_cast<double>(block * times * threads) / seconds;
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

double MachineLimits::speed(double bytes) const {
  double rate = copies.empty() ? bytes_per_second : copies.front().bytes_per_second;
  for (const Copies& size : copies)
    if (static_cast<double>(size.bytes) <= bytes) rate = size.bytes_per_second;
  return rate;
}

double MachineLimits::seconds(double bytes, double flops) const {
  return std::max(bytes / speed(bytes), flops / flops_per_second);
}

MachineLimits measure_machine() {
  MachineLimits limits;
  const int threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  // Beyond the caches, and at most half a gigabyte in all.
  const std::size_t memory = std::min(static_cast<std::size_t>(threads) << 26, std::size_t{1} << 29);
  Blocks blocks(threads, memory / 2 / static_cast<std::size_t>(threads));
  limits.bytes_per_second = copied_per_second(blocks, memory);
  limits.copies.push_back({static_cast<std::int64_t>(memory), limits.bytes_per_second});
  for (std::size_t bytes = memory / 2; bytes >= std::size_t{32} << 10; bytes /= 2) {
    const double speed = copied_per_second(blocks, bytes);
    if (speed > limits.copies.front().bytes_per_second)
      limits.copies.insert(limits.copies.begin(), {static_cast<std::int64_t>(bytes), speed});
  }
  constexpr int kSteps = 1'000'000;
  std::vector<float> kept(static_cast<std::size_t>(threads) * 16);  // each thread's result on a line of its own
  const auto measure = [&](float (*multiply_adds)(int), int lanes) {
    const double seconds =
        shortest(threads, 6, [&](int t) { kept[static_cast<std::size_t>(t) * 16] += multiply_adds(kSteps); });
    limits.flops_per_second = std::max(limits.flops_per_second, 2.0 * kChains * lanes * kSteps * threads / seconds);
  };
  measure(multiply_adds_32, 8);
  measure(multiply_adds_64, 16);
  return limits;
}

}  // namespace oriel::runtime
