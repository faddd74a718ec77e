// A program beside a plain loop that computes the same: results compared, times printed.
#pragma once

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#include "oriel/oriel.hpp"

using Floats = std::vector<float>;

/// The least of five times, after one run that plans and compiles, in milliseconds; and the result.
template <class F>
std::pair<double, Floats> timed(const F& f) {
  Floats result = f();
  double least = 1e9;
  for (int k = 0; k < 5; ++k) {
    const auto start = std::chrono::steady_clock::now();
    result = f();
    least =
        std::min(least, std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
  }
  return {least, std::move(result)};
}

/// Ends the process with a message if the results differ by more than the tolerance, relative to numbers above 1.
template <class Ours, class Loop>
void beside(const char* name, const Ours& ours, const Loop& loop, double tolerance = 1e-4) {
  const auto [ms, result] =
      timed([&] { return oriel::Tensor(ours()).to(oriel::DType::float32).template to_vector<float>(); });
  const auto [loop_ms, wanted] = timed(loop);
  bool same = result.size() == wanted.size();
  for (std::size_t k = 0; same && k < wanted.size(); ++k)
    same = std::abs(result[k] - wanted[k]) <= tolerance * std::max(1.0, std::abs(static_cast<double>(wanted[k])));
  std::printf("%-24s %8.2f ms, a plain loop %8.2f ms\n", name, ms, loop_ms);
  if (!same) {
    std::printf("%s: the results differ\n", name);
    std::exit(1);
  }
}

inline Floats random_floats(std::int64_t count, std::uint64_t key) {
  return oriel::uniform(oriel::Key(key), {count}, -1, 1).to_vector<float>();
}
