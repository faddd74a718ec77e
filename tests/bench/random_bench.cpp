// Random numbers and batches of small linear systems, each in turns with a plain loop on one thread.
#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <random>

#include "in_turns.hpp"
#include "oriel/oriel.hpp"

namespace {

using namespace oriel;
using bench::in_turns;
using bench::random_floats;
using Floats = std::vector<float>;

constexpr std::int64_t kCount = 1 << 24;

/// A draw as elements in memory, beside a generator and a distribution of the standard library.
template <class Draw, class Distribution>
void drawn(benchmark::State& state, const Draw& draw, Distribution distribution) {
  Floats out(kCount);
  std::mt19937_64 generator(1);
  std::uint64_t seed = 0;
  in_turns(
      state, [&] { draw(Key(++seed)).realize(); },
      [&] {
        for (float& x : out) x = static_cast<float>(distribution(generator));
      });
}
void uniform_numbers(benchmark::State& state) {
  drawn(
      state, [](const Key& key) { return uniform(key, {kCount}); }, std::uniform_real_distribution<float>());
}
void normal_numbers(benchmark::State& state) {
  drawn(
      state, [](const Key& key) { return normal(key, {kCount}); }, std::normal_distribution<float>());
}
void dice(benchmark::State& state) {
  drawn(
      state, [](const Key& key) { return randint(key, {kCount}, 1, 7); }, std::uniform_int_distribution<int>(1, 6));
}
BENCHMARK(uniform_numbers)->Unit(benchmark::kMillisecond);
BENCHMARK(normal_numbers)->Unit(benchmark::kMillisecond);
BENCHMARK(dice)->Unit(benchmark::kMillisecond);

/// Rejection, for a sixteenth as many numbers.
void gamma_numbers(benchmark::State& state) {
  constexpr std::int64_t n = kCount / 16;
  Floats out(n);
  std::mt19937_64 generator(1);
  std::gamma_distribution<float> distribution(2.5F);
  std::uint64_t seed = 0;
  in_turns(
      state, [&] { gamma(Key(++seed), {n}, 2.5).realize(); },
      [&] {
        for (float& x : out) x = distribution(generator);
      });
}
BENCHMARK(gamma_numbers)->Unit(benchmark::kMillisecond);

/// The mean pay-off of four million paths, which are stored nowhere.
void option_paths(benchmark::State& state) {
  constexpr std::int64_t n = 1 << 22;
  std::mt19937_64 generator(1);
  std::normal_distribution<float> distribution;
  std::uint64_t seed = 0;
  in_turns(
      state, [&] { mean(maximum(100 * exp(0.2F * normal(Key(++seed), {n}) + 0.01F) - 105, 0)).realize(); },
      [&] {
        float total = 0;
        for (std::int64_t i = 0; i < n; ++i)
          total += std::max(100 * std::exp(0.2F * distribution(generator) + 0.01F) - 105, 0.0F);
        benchmark::DoNotOptimize(total);
      });
}
BENCHMARK(option_paths)->Unit(benchmark::kMillisecond);

/// Batches of systems of n unknowns beside a loop over Eigen's matrices of that size.
template <int n>
void systems(benchmark::State& state) {
  constexpr std::int64_t batches = 100'000;
  Floats x = random_floats(batches * n * n), b = random_floats(batches * n), out(b.size());
  for (std::int64_t k = 0; k < batches; ++k)
    for (int i = 0; i < n; ++i) x[static_cast<std::size_t>((k * n + i) * n + i)] += 4;
  const Tensor matrices = Tensor::borrow(x, {batches, n, n}), sides = Tensor::borrow(b, {batches, n, 1});
  using Matrix = Eigen::Matrix<float, n, n, Eigen::RowMajor>;
  using Vector = Eigen::Matrix<float, n, 1>;
  in_turns(
      state, [&] { solve(matrices, sides).realize(); },
      [&] {
        for (std::int64_t k = 0; k < batches; ++k) {
          const Eigen::Map<const Matrix> a(&x[static_cast<std::size_t>(k * n * n)]);
          const Eigen::Map<const Vector> right(&b[static_cast<std::size_t>(k * n)]);
          Eigen::Map<Vector> found(&out[static_cast<std::size_t>(k * n)]);
          found = a.partialPivLu().solve(right);
        }
      });
}
BENCHMARK(systems<3>)->Unit(benchmark::kMillisecond);
BENCHMARK(systems<8>)->Unit(benchmark::kMillisecond);

}  // namespace

int main(int count, char** words) { return oriel::bench::main_on_one_thread(count, words); }
