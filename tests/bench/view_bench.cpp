// The time of one movement on a rank-4 masked view, and of merging two rank-4 masked views made by movements.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <vector>

#include "oriel/view.hpp"

namespace {

using oriel::Range;
using oriel::Ranges;
using oriel::ShapeTracker;
using oriel::View;

View masked_view() {
  return View::contiguous({8, 6, 10, 4}).pad({{1, 2}, {0, 0}, {3, 0}, {1, 1}}).permute({2, 0, 3, 1});
}

template <class Movement>
void movement(benchmark::State& state, Movement move) {
  const ShapeTracker tracker(masked_view());
  for (auto _ : state) benchmark::DoNotOptimize(move(tracker));
}

/// Pairs as in the random movement tests, but of rank 4 and with a mask on both views.
class Pairs {
 public:
  Pairs() {
    while (pairs_.size() < 4096) {
      const View inner = moved(View::contiguous(shape()));
      if (!inner.masked()) continue;
      const View outer = moved(View::contiguous(factors(inner.numel().value())));
      if (outer.rank() == 4 && outer.masked()) pairs_.push_back({outer, inner});
    }
  }
  struct Pair {
    View outer;
    View inner;
  };
  const std::vector<Pair>& all() const { return pairs_; }

 private:
  std::int64_t between(std::int64_t lo, std::int64_t hi) {
    return lo + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(hi - lo + 1));
  }

  oriel::Shape shape() {
    static constexpr std::int64_t extents[] = {2, 3, 4, 5, 6, 8, 12, 16, 32, 64};
    oriel::Shape result;
    for (int d = 0; d < 4; ++d) result.push_back(extents[between(0, 9)]);
    return result;
  }

  oriel::Shape factors(std::int64_t n) {
    oriel::Shape result;
    for (int k = 0; k < 3; ++k) {
      std::vector<std::int64_t> divisors;
      for (std::int64_t d = 1; d <= n && d <= 128; ++d) {
        if (n % d == 0) divisors.push_back(d);
      }
      result.push_back(divisors[static_cast<std::size_t>(between(0, static_cast<std::int64_t>(divisors.size()) - 1))]);
      n /= result.back().value();
    }
    result.push_back(n);
    std::shuffle(result.begin(), result.end(), random_);
    return result;
  }

  View moved(View view) {
    for (std::int64_t k = between(1, 4); k > 0; --k) {
      Ranges ranges;
      oriel::Ints order{0, 1, 2, 3};
      switch (between(0, 3)) {
        case 0:
          std::shuffle(order.begin(), order.end(), random_);
          view = view.permute(order);
          break;
        case 1:
          view = view.flip({between(0, 3)});
          break;
        case 2:
          for (const oriel::SymInt extent : view.shape) {
            const std::int64_t lo = between(0, extent.value() - 1);
            ranges.push_back(between(0, 1) == 0 ? Range{0, extent} : Range{lo, between(lo + 1, extent.value())});
          }
          view = view.shrink(ranges);
          break;
        default:
          for (int d = 0; d < 4; ++d) {
            ranges.push_back({std::max<std::int64_t>(0, between(-2, 2)), std::max<std::int64_t>(0, between(-2, 2))});
          }
          view = view.pad(ranges);
      }
    }
    return view;
  }

  std::mt19937_64 random_{7};
  std::vector<Pair> pairs_;
};

const Pairs& pairs() {
  static const Pairs all;
  return all;
}

/// The mean time per merge. The counters give, in nanoseconds, the median (of all pairs, and of those that merge) and
/// the 99.9th percentile over the pairs.
void merge_pairs(benchmark::State& state) {
  const auto& all = pairs().all();
  for (auto _ : state) {
    for (const auto& pair : all) benchmark::DoNotOptimize(merge(pair.outer, pair.inner));
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(all.size()));
  std::vector<double> times;
  std::vector<double> merged_times;
  for (const auto& pair : all) {
    constexpr int kRepeats = 64;
    const auto start = std::chrono::steady_clock::now();
    for (int k = 0; k < kRepeats; ++k) benchmark::DoNotOptimize(merge(pair.outer, pair.inner));
    times.push_back(std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count() /
                    kRepeats);
    if (merge(pair.outer, pair.inner).verdict == oriel::MergeVerdict::Merged) merged_times.push_back(times.back());
  }
  std::sort(times.begin(), times.end());
  std::sort(merged_times.begin(), merged_times.end());
  state.counters["median_ns"] = times[times.size() / 2];
  state.counters["merged_median_ns"] = merged_times[merged_times.size() / 2];
  state.counters["p99.9_ns"] = times[times.size() * 999 / 1000];
  state.counters["merged_share"] = static_cast<double>(merged_times.size()) / static_cast<double>(all.size());
}

void simplify_stack(benchmark::State& state) {
  const ShapeTracker tracker = ShapeTracker({2, 3, 4, 5})
                                   .pad({{1, 1}, {0, 0}, {0, 0}, {0, 0}})
                                   .permute({1, 0, 2, 3})
                                   .reshape({12, 20})
                                   .reshape({3, 4, 20});
  for (auto _ : state) benchmark::DoNotOptimize(tracker.simplify());
}

}  // namespace

BENCHMARK_CAPTURE(movement, permute, [](const ShapeTracker& t) { return t.permute({3, 1, 0, 2}); });
BENCHMARK_CAPTURE(movement, expand, [](const ShapeTracker& t) { return t.expand(t.shape()); });
BENCHMARK_CAPTURE(movement, shrink, [](const ShapeTracker& t) { return t.shrink({{0, 9}, {1, 7}, {0, 5}, {2, 6}}); });
BENCHMARK_CAPTURE(movement, pad, [](const ShapeTracker& t) { return t.pad({{0, 1}, {1, 0}, {0, 0}, {2, 2}}); });
BENCHMARK_CAPTURE(movement, flip, [](const ShapeTracker& t) { return t.flip({0, 2}); });
BENCHMARK_CAPTURE(movement, reshape, [](const ShapeTracker& t) { return t.reshape({13, 11, 3, 2, 6}); });
BENCHMARK(merge_pairs);
BENCHMARK(simplify_stack);

BENCHMARK_MAIN();
