// Attention, softmax(Q K^T * s) V for each head, written with matmul and softmax, compared with a version written by
// hand over Eigen: one block of scores per head, softmax row by row in it, heads shared among the same number of
// threads. Both run in turns, so that other load on the machine affects both; the row is the time of Oriel.
//
// Counters: ms and eigen_ms, medians by wall clock; ratio, the median of Oriel's time over that of Eigen's; cpu_ratio,
// the same by processor time, which other programs disturb less; rows_MiB, memory that grew while it ran.
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <Eigen/Core>
#include <algorithm>
#include <cstdlib>
#include <functional>
#include <random>
#include <thread>
#include <vector>

#include "in_turns.hpp"
#include "oriel/oriel.hpp"

namespace {

using namespace oriel;
using bench::Times;
using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

std::vector<float> numbers(std::int64_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> range(-1, 1);
  std::vector<float> v(static_cast<std::size_t>(n));
  for (float& x : v) x = range(random);
  return v;
}

double resident_peak_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

int thread_count() {
  if (const char* threads = std::getenv("ORIEL_THREADS"); threads != nullptr) return std::max(1, std::atoi(threads));
  return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

struct Sizes {
  std::int64_t heads, queries, keys, depth;
};

/// The hand-written version: `block` queries of a head at a time, or all of them if their scores fit the caches.
void by_hand(const Sizes& s, const float* q, const float* k, const float* v, float* out, bool causal) {
  const std::int64_t block = std::min<std::int64_t>(s.queries, std::max<std::int64_t>(64, 512 * 512 / s.keys));
  const auto head = [&](std::int64_t h, Matrix& scores) {
    const Eigen::Map<const Matrix> keys(k + h * s.keys * s.depth, s.keys, s.depth);
    const Eigen::Map<const Matrix> values(v + h * s.keys * s.depth, s.keys, s.depth);
    for (std::int64_t i = 0; i < s.queries; i += block) {
      const std::int64_t n = std::min(block, s.queries - i);
      const std::int64_t m = causal ? i + n : s.keys;
      const Eigen::Map<const Matrix> queries(q + (h * s.queries + i) * s.depth, n, s.depth);
      Eigen::Map<Matrix> result(out + (h * s.queries + i) * s.depth, n, s.depth);
      scores.resize(n, m);
      scores.noalias() = (queries * 0.125F) * keys.topRows(m).transpose();
      for (std::int64_t r = 0; r < n; ++r) {
        auto row = scores.row(r);
        if (causal) row.tail(m - i - r - 1).setConstant(-INFINITY);
        row.array() = (row.array() - row.maxCoeff()).exp();
        row *= 1 / row.sum();
      }
      result.noalias() = scores * values.topRows(m);
    }
  };
  std::vector<std::thread> others;
  const int threads = thread_count();
  const auto share = [&](int t) {
    Matrix scores;
    for (std::int64_t h = t; h < s.heads; h += threads) head(h, scores);
  };
  for (int t = 1; t < threads; ++t) others.emplace_back(share, t);
  share(0);
  for (std::thread& t : others) t.join();
}

void attention(benchmark::State& state, const Sizes& s, bool causal, bool beside) {
  const std::vector<float> q = numbers(s.heads * s.queries * s.depth, 1), k = numbers(s.heads * s.keys * s.depth, 2),
                           v = numbers(s.heads * s.keys * s.depth, 3);
  std::vector<float> out(q.size());
  const Tensor x = Tensor::borrow(q, {s.heads, s.queries, s.depth}), y = Tensor::borrow(k, {s.heads, s.keys, s.depth}),
               z = Tensor::borrow(v, {s.heads, s.keys, s.depth});
  const Tensor row = arange(s.queries).reshape({s.queries, 1}), column = arange(s.keys).reshape({1, s.keys});
  const auto ours = [&] {
    Tensor scores = matmul(x, y.transpose()) * 0.125;
    if (causal) scores = where(column <= row, scores, -INFINITY);
    Tensor r = matmul(softmax(scores), z);
    r.realize();
    benchmark::DoNotOptimize(r);
  };
  const auto theirs = [&] { by_hand(s, q.data(), k.data(), v.data(), out.data(), causal); };
  const double before = resident_peak_mib();
  ours();
  state.counters["rows_MiB"] = resident_peak_mib() - before;
  if (beside) theirs();
  const bench::Turns turns = bench::take_turns(state, ours, beside ? std::function<void()>(theirs) : nullptr);
  const double wall = Times::median(turns.ours.wall), cpu = Times::median(turns.ours.cpu);
  state.counters["ms"] = wall * 1e3;
  state.counters["cpu_ms"] = cpu * 1e3;
  if (!beside) return;
  const double eigen = Times::median(turns.theirs.wall);
  state.counters["eigen_ms"] = eigen * 1e3;
  state.counters["ratio"] = wall / eigen;
  state.counters["cpu_ratio"] = cpu / Times::median(turns.theirs.cpu);
}

void b4_h8_s512_d64(benchmark::State& state) { attention(state, {32, 512, 512, 64}, state.range(0) != 0, true); }
BENCHMARK(b4_h8_s512_d64)->ArgName("causal")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond)->UseRealTime();

void s8192_d64(benchmark::State& state) { attention(state, {1, 8192, 8192, 64}, state.range(0) != 0, true); }
BENCHMARK(s8192_d64)->ArgName("causal")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(5);

}  // namespace

BENCHMARK_MAIN();
