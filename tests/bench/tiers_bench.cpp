// Both tiers of the CPU, compared with the same work fused by hand over Eigen, in turns within each iteration, so that
// other load on the machine affects all. The row is the time on the tile machine. `tile` and `compiled` are ratios of
// medians to that of the hand-written form; `*_best` are ratios of the best times; `compiled_ms` and `hand_ms` are best
// times. With one thread, times are the processor's, which other load on the machine affects less.
//
// Built for this machine only. ORIEL_THREADS is the number of threads of all three.
#include <benchmark/benchmark.h>

#include <unsupported/Eigen/CXX11/ThreadPool>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <thread>
#include <vector>

#include <Eigen/Core>

#include "in_turns.hpp"
#include "oriel/oriel.hpp"

namespace {

using namespace oriel;
using Array = Eigen::Array<float, Eigen::Dynamic, 1>;
using Rows = Eigen::Array<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr std::int64_t kBig = 16 << 20;

std::vector<float>& numbers(int which) {
  static std::vector<float> all[4];
  std::vector<float>& v = all[which];
  if (v.empty()) {
    v.resize(kBig);
    for (std::size_t i = 0; i < v.size(); ++i) {
      v[i] = static_cast<float>(i * static_cast<std::size_t>(1 + which) % 1013) / 1013 - 0.5F;
    }
  }
  return v;
}

int thread_count() {
  if (const char* text = std::getenv("ORIEL_THREADS")) return std::max(1, std::atoi(text));
  return static_cast<int>(std::thread::hardware_concurrency());
}

/// Calls f(first, last) on pieces of [0, n), several per thread, as the engine divides work. A point has `size`
/// elements.
void share(std::int64_t n, std::int64_t size, const std::function<void(std::int64_t, std::int64_t)>& f) {
  static const int threads = thread_count();
  static Eigen::ThreadPool pool(std::max(1, threads - 1));
  const std::int64_t tasks = std::min<std::int64_t>(threads * 8, n * size / 16384 + 1);
  std::atomic<std::int64_t> next{0};
  const auto work = [&] {
    for (std::int64_t t = next++; t < tasks; t = next++) f(n * t / tasks, n * (t + 1) / tasks);
  };
  if (threads == 1 || tasks == 1) return work();
  Eigen::Barrier done(static_cast<unsigned>(threads - 1));
  for (int t = 1; t < threads; ++t) {
    pool.Schedule([&] {
      work();
      done.Notify();
    });
  }
  work();
  done.Wait();
}

void compare(benchmark::State& state, const std::function<void()>& by_hand, const std::function<Tensor()>& build) {
  const auto run = [&](EigenTier tier) {
    set_eigen_tier(tier);
    Tensor r = build();
    r.realize();
    benchmark::DoNotOptimize(r);
  };
  for (int which = 0; which < 4; ++which) numbers(which);  // made before threads use them
  run(EigenTier::tile);
  bench::Times first, of_compiled, of_hand;
  first.take([&] { run(EigenTier::compile); });
  const bench::Turns turns = bench::take_turns(
      state, [&] { run(EigenTier::tile); },
      [&] {
        of_hand.take(by_hand);
        of_compiled.take([&] { run(EigenTier::compile); });
      });
  const auto list = [](const bench::Times& times) { return thread_count() == 1 ? times.cpu : times.wall; };
  const std::vector<double> tile = list(turns.ours), compiled = list(of_compiled), hand = list(of_hand);
  const auto best = [](const std::vector<double>& times) { return std::ranges::min(times); };
  const auto median = bench::Times::median;
  state.counters["compiled_ms"] = best(compiled) * 1e3;
  state.counters["hand_ms"] = best(hand) * 1e3;
  state.counters["tile"] = median(tile) / median(hand);
  state.counters["compiled"] = median(compiled) / median(hand);
  state.counters["tile_best"] = best(tile) / best(hand);
  state.counters["compiled_best"] = best(compiled) / best(hand);
  state.counters["first_ms"] = list(first)[0] * 1e3;  // includes the compiler's run unless the disk cache has the unit
}

// relu(a*b+c)*exp(-|a|)+0.5*tanh(b).
void transcendental(benchmark::State& state) {
  const std::int64_t n = state.range(0);
  const auto part = [&](int which) {
    return std::span<const float>(numbers(which).data(), static_cast<std::size_t>(n));
  };
  const Tensor a = Tensor::from(part(0), {n}), b = Tensor::from(part(1), {n}), c = Tensor::from(part(2), {n});
  compare(
      state,
      [&] {
        share(n, 1, [](std::int64_t first, std::int64_t last) {
          const auto at = [&](int which) {
            return Eigen::Map<const Array>(numbers(which).data() + first, last - first);
          };
          const auto x = at(0), y = at(1), z = at(2);
          Eigen::Map<Array>(numbers(3).data() + first, last - first) =
              (x * y + z).max(0.0F) * (-x.abs()).exp() + 0.5F * y.tanh();
        });
      },
      [&] { return relu(a * b + c) * exp(-abs(a)) + 0.5F * tanh(b); });
}
BENCHMARK(transcendental)->Arg(kBig)->Arg(1 << 16)->Unit(benchmark::kMillisecond)->UseRealTime();

// (a*b+c)*2-a.
void arithmetic(benchmark::State& state) {
  const std::int64_t n = state.range(0);
  const auto part = [&](int which) {
    return std::span<const float>(numbers(which).data(), static_cast<std::size_t>(n));
  };
  const Tensor a = Tensor::from(part(0), {n}), b = Tensor::from(part(1), {n}), c = Tensor::from(part(2), {n});
  compare(
      state,
      [&] {
        share(n, 1, [](std::int64_t first, std::int64_t last) {
          const auto at = [&](int which) {
            return Eigen::Map<const Array>(numbers(which).data() + first, last - first);
          };
          const auto x = at(0), y = at(1), z = at(2);
          Eigen::Map<Array>(numbers(3).data() + first, last - first) = (x * y + z) * 2.0F - x;
        });
      },
      [&] { return (a * b + c) * 2.0F - a; });
}
BENCHMARK(arithmetic)->Arg(kBig)->Arg(1 << 16)->Unit(benchmark::kMillisecond)->UseRealTime();

void softmax_rows(benchmark::State& state) {
  const Tensor x = Tensor::borrow(numbers(0), {4096, 4096});
  compare(
      state,
      [&] {
        share(4096, 4096, [](std::int64_t first, std::int64_t last) {
          const Eigen::Map<const Rows> in(numbers(0).data(), 4096, 4096);
          Eigen::Map<Rows> out(numbers(3).data(), 4096, 4096);
          for (std::int64_t r = first; r < last; ++r) {
            const float largest = in.row(r).maxCoeff();
            out.row(r) = (in.row(r) - largest).exp();
            out.row(r) *= 1.0F / out.row(r).sum();
          }
        });
      },
      [&] { return softmax(x); });
}
BENCHMARK(softmax_rows)->Unit(benchmark::kMillisecond)->UseRealTime();

void layer_norm_rows(benchmark::State& state) {
  const Tensor x = Tensor::borrow(numbers(0).data(), {8192, 1024});
  compare(
      state,
      [&] {
        share(8192, 1024, [](std::int64_t first, std::int64_t last) {
          const Eigen::Map<const Rows> in(numbers(0).data(), 8192, 1024);
          Eigen::Map<Rows> out(numbers(3).data(), 8192, 1024);
          for (std::int64_t r = first; r < last; ++r) {
            const float mean = in.row(r).mean();
            const float variance = (in.row(r) - mean).square().mean();
            out.row(r) = (in.row(r) - mean) * (1.0F / std::sqrt(variance + 1e-5F));
          }
        });
      },
      [&] { return layer_norm(x); });
}
BENCHMARK(layer_norm_rows)->Unit(benchmark::kMillisecond)->UseRealTime();

void sum_rows(benchmark::State& state) {
  const Tensor x = Tensor::borrow(numbers(0), {4096, 4096});
  compare(
      state,
      [&] {
        share(4096, 4096, [](std::int64_t first, std::int64_t last) {
          const Eigen::Map<const Rows> in(numbers(0).data(), 4096, 4096);
          for (std::int64_t r = first; r < last; ++r) numbers(3)[static_cast<std::size_t>(r)] = in.row(r).sum();
        });
      },
      [&] { return sum(x, 1); });
}
BENCHMARK(sum_rows)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
