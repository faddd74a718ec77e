// Measures wall clock and processor time of work that runs in turns with other work.
#pragma once

#include <time.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <numeric>
#include <vector>

namespace oriel::bench {

inline double seconds(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

struct Times {
  std::vector<double> wall, cpu;
  void take(const std::function<void()>& work) {
    const double c = seconds(CLOCK_PROCESS_CPUTIME_ID), w = seconds(CLOCK_MONOTONIC);
    work();
    asm volatile("" : : : "memory");  // what it stored counts as used
    wall.push_back(seconds(CLOCK_MONOTONIC) - w);
    cpu.push_back(seconds(CLOCK_PROCESS_CPUTIME_ID) - c);
  }
  double total() const { return std::accumulate(wall.begin(), wall.end(), 0.0); }
  static double median(std::vector<double> v) {
    std::nth_element(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2), v.end());
    return v[v.size() / 2];
  }
};

}  // namespace oriel::bench
