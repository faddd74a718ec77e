// Our program and a plain loop in turns, as counters of a benchmark.
#pragma once

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "turns.hpp"

namespace oriel::bench {

/// `ms` and `<other>_ms` are the least time of a run by the clock; `ratio` is the first divided by the second.
inline void in_turns(benchmark::State& state, const std::function<void()>& ours, const std::function<void()>& loop,
                     clockid_t clock = CLOCK_PROCESS_CPUTIME_ID, const char* other = "loop") {
  constexpr double none = std::numeric_limits<double>::infinity();
  double mine = none, theirs = none;
  const auto time = [clock](double& least, const std::function<void()>& f) {
    const double start = seconds(clock);
    f();
    benchmark::ClobberMemory();
    least = std::min(least, seconds(clock) - start);
  };
  ours();
  for (auto _ : state) {
    time(mine, ours);
    time(theirs, loop);
  }
  state.counters["ms"] = mine * 1e3;
  state.counters[std::string(other) + "_ms"] = theirs * 1e3;
  state.counters["ratio"] = mine / theirs;
}

/// Runs the benchmarks on one thread, unless ORIEL_THREADS says otherwise.
inline int main_on_one_thread(int count, char** words) {
  setenv("ORIEL_THREADS", "1", 0);
  benchmark::Initialize(&count, words);
  if (benchmark::ReportUnrecognizedArguments(count, words)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}

inline std::vector<float> random_floats(std::int64_t count) {
  std::mt19937 random(5);
  std::vector<float> out(static_cast<std::size_t>(count));
  for (float& x : out) x = static_cast<float>(random() % 2048) / 1024 - 1;
  return out;
}

}  // namespace oriel::bench
