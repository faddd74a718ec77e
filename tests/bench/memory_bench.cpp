// Kernels that only read memory, each in turns with a loop that reads as much. `ms` and `read_ms` are the least time of
// a run: of the processor on one thread, else by the clock; `ratio` is the first divided by the second. ORIEL_THREADS
// sets the number of threads of both.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "in_turns.hpp"
#include "oriel/oriel.hpp"

namespace {

using namespace oriel;
using bench::in_turns;
using bench::random_floats;

constexpr std::int64_t kSide = 4096;

int thread_count() {
  const char* const setting = std::getenv("ORIEL_THREADS");
  return setting == nullptr ? 1 : std::max(1, std::atoi(setting));
}

/// Reads four streams at a time, each of a megabyte. A core keeps more cache lines of several streams under way than of
/// one, so this is faster than a loop over all elements.
void read_streams(const float* x, std::int64_t n) {
  typedef float Packet __attribute__((vector_size(64)));
  constexpr std::int64_t stream = 256 * 1024;
  Packet sums[4] = {};
  for (; n >= 4 * stream; n -= 4 * stream, x += 4 * stream) {
    for (std::int64_t i = 0; i < stream; i += 16) {
      for (int s = 0; s < 4; ++s) {
        Packet v;
        std::memcpy(&v, x + s * stream + i, sizeof v);
        sums[s] += v;
      }
    }
  }
  for (Packet& s : sums) benchmark::DoNotOptimize(s);
}

void read_all(const std::vector<float>& x) {
  const std::int64_t threads = thread_count(), n = std::ssize(x);
  const auto part = [&](std::int64_t t) {
    read_streams(x.data() + n * t / threads, n * (t + 1) / threads - n * t / threads);
  };
  std::vector<std::thread> others;
  for (std::int64_t t = 1; t < threads; ++t) others.emplace_back(part, t);
  part(0);
  for (std::thread& t : others) t.join();
}

void beside_reading(benchmark::State& state, const std::function<void(const Tensor&)>& ours) {
  const std::vector<float> x = random_floats(kSide * kSide);
  const Tensor tensor = Tensor::borrow(x, {kSide, kSide});
  in_turns(
      state, [&] { ours(tensor); }, [&] { read_all(x); },
      thread_count() == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, "read");
}

#define ORIEL_READS(name, ...)                                                     \
  void name(benchmark::State& state) {                                             \
    beside_reading(state, [](const Tensor& x) { Tensor(__VA_ARGS__).realize(); }); \
  }                                                                                \
  BENCHMARK(name)->Unit(benchmark::kMillisecond)->UseRealTime()
ORIEL_READS(sum_all, sum(x));
ORIEL_READS(sum_rows, sum(x, 1));
ORIEL_READS(sum_columns, sum(x, 0));
ORIEL_READS(max_all, max(x));
ORIEL_READS(max_rows, max(x, 1));
ORIEL_READS(max_columns, max(x, 0));
#undef ORIEL_READS

void product(benchmark::State& state, bool row) {
  const std::vector<float> v = random_floats(kSide);
  const Tensor vector = Tensor::borrow(v, {kSide});
  beside_reading(state, [&](const Tensor& x) { (row ? matmul(vector, x) : matmul(x, vector)).realize(); });
}
void vector_times_matrix(benchmark::State& state) { product(state, true); }
void matrix_times_vector(benchmark::State& state) { product(state, false); }
BENCHMARK(vector_times_matrix)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(matrix_times_vector)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace

int main(int count, char** words) { return oriel::bench::main_on_one_thread(count, words); }
