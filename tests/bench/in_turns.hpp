// Our program and a peer's in turns: the row of the benchmark is our time, the peer's is a counter.
#pragma once

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "turns.hpp"

namespace oriel::bench {

struct Turns {
  Times ours, theirs;
};

/// Runs `ours` in each iteration and `theirs` after it, so that other load on the machine affects both. The clocks of
/// the benchmark stand still while `theirs` runs. A peer that takes more than three times as long misses turns, so that
/// a row does not take many times as long as its own time. An empty `theirs` takes no turn.
inline Turns take_turns(benchmark::State& state, const std::function<void()>& ours,
                        const std::function<void()>& theirs) {
  Turns turns;
  for (auto _ : state) {
    turns.ours.take(ours);
    state.PauseTiming();
    if (theirs && turns.theirs.total() <= 3 * turns.ours.total()) turns.theirs.take(theirs);
    state.ResumeTiming();
  }
  return turns;
}

/// Takes turns. `ms` and `<other>_ms` are the least time of a run by the clock; `ratio` is the first divided by the
/// second.
inline void in_turns(benchmark::State& state, const std::function<void()>& ours, const std::function<void()>& loop,
                     clockid_t clock = CLOCK_PROCESS_CPUTIME_ID, const char* other = "loop") {
  ours();
  const Turns turns = take_turns(state, ours, loop);
  const auto least = [clock](const Times& times) {
    return std::ranges::min(clock == CLOCK_PROCESS_CPUTIME_ID ? times.cpu : times.wall);
  };
  const double mine = least(turns.ours), theirs = least(turns.theirs);
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
