// Everyday programs, each in turns with the plain loop that a C++ programmer would write, on one thread. `ms` and
// `loop_ms` are the least processor time of a run; `ratio` is the first divided by the second. ORIEL_THREADS sets
// another number of threads; the loop always has one.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "in_turns.hpp"
#include "oriel/oriel.hpp"

namespace {

using namespace oriel;
using bench::in_turns;
using bench::random_floats;

constexpr std::int64_t kMany = 4'000'000;

// Half of the elements, in random order.
struct Chosen {
  std::vector<float> x = random_floats(kMany);
  std::unique_ptr<bool[]> mask{new bool[static_cast<std::size_t>(kMany)]};
  std::vector<std::int64_t> found;
  std::vector<float> kept;
  Chosen() : found(static_cast<std::size_t>(kMany)), kept(static_cast<std::size_t>(kMany)) {
    for (std::size_t k = 0; k < x.size(); ++k) {
      if (k % 2 == 0) x[k] = 0;
    }
    std::shuffle(x.begin(), x.end(), std::mt19937(6));
    for (std::size_t k = 0; k < x.size(); ++k) mask[k] = x[k] > 0;
  }
};

void nonzero_floats(benchmark::State& state) {
  Chosen c;
  const Tensor x = Tensor::borrow(c.x, {kMany});
  in_turns(
      state, [&] { nonzero(x).realize(); },
      [&] {
        std::size_t n = 0;
        for (std::size_t k = 0; k < c.x.size(); ++k) {
          c.found[n] = static_cast<std::int64_t>(k);
          n += c.x[k] != 0 ? 1 : 0;
        }
      });
}
BENCHMARK(nonzero_floats)->Unit(benchmark::kMillisecond);

void nonzero_bools(benchmark::State& state) {
  Chosen c;
  const Tensor mask = (Tensor::borrow(c.x, {kMany}) > 0).realize();
  in_turns(
      state, [&] { nonzero(mask).realize(); },
      [&] {
        std::size_t n = 0;
        for (std::size_t k = 0; k < c.x.size(); ++k) {
          c.found[n] = static_cast<std::int64_t>(k);
          n += c.mask[k] ? 1 : 0;
        }
      });
}
BENCHMARK(nonzero_bools)->Unit(benchmark::kMillisecond);

void nonzero_of_a_matrix(benchmark::State& state) {
  Chosen c;
  constexpr std::int64_t columns = 2000;
  const Tensor x = Tensor::borrow(c.x, {kMany / columns, columns});
  std::vector<std::int64_t> found(static_cast<std::size_t>(2 * kMany));
  in_turns(
      state, [&] { nonzero(x).realize(); },
      [&] {
        std::size_t n = 0;
        for (std::int64_t i = 0; i < kMany / columns; ++i) {
          for (std::int64_t j = 0; j < columns; ++j) {
            found[n] = i;
            found[n + 1] = j;
            n += c.x[static_cast<std::size_t>(i * columns + j)] != 0 ? 2 : 0;
          }
        }
      });
}
BENCHMARK(nonzero_of_a_matrix)->Unit(benchmark::kMillisecond);

void masked_select_floats(benchmark::State& state) {
  Chosen c;
  const Tensor x = Tensor::borrow(c.x, {kMany});
  in_turns(
      state, [&] { masked_select(x, x > 0).realize(); },
      [&] {
        std::size_t n = 0;
        for (const float v : c.x) {
          c.kept[n] = v;
          n += v > 0 ? 1 : 0;
        }
      });
}
BENCHMARK(masked_select_floats)->Unit(benchmark::kMillisecond);

void flat_cumsum(benchmark::State& state) {
  const std::vector<float> x = random_floats(kMany);
  std::vector<float> out(x.size());
  const Tensor tensor = Tensor::borrow(x, {kMany});
  in_turns(
      state, [&] { cumsum(tensor, 0).realize(); },
      [&] {
        float sum = 0;
        for (std::size_t k = 0; k < x.size(); ++k) out[k] = sum += x[k];
      });
}
BENCHMARK(flat_cumsum)->Unit(benchmark::kMillisecond);

// The rank of each chosen element: what a compaction begins with.
void cumsum_of_a_mask(benchmark::State& state) {
  Chosen c;
  const Tensor mask = (Tensor::borrow(c.x, {kMany}) > 0).realize();
  in_turns(
      state, [&] { cumsum(mask, 0).realize(); },
      [&] {
        std::int64_t n = 0;
        for (std::size_t k = 0; k < c.x.size(); ++k) c.found[k] = n += c.mask[k] ? 1 : 0;
      });
}
BENCHMARK(cumsum_of_a_mask)->Unit(benchmark::kMillisecond);

// Along the rows and down the columns of a matrix.
void cumsum_of_a_matrix(benchmark::State& state) {
  const std::int64_t rows = state.range(0), columns = kMany / rows;
  const std::vector<float> x = random_floats(rows * columns);
  std::vector<float> out(x.size());
  const Tensor tensor = Tensor::borrow(x, {rows, columns});
  const bool down = state.range(1) == 0;
  in_turns(
      state, [&] { cumsum(tensor, down ? 0 : 1).realize(); },
      [&] {
        for (std::int64_t i = 0; i < rows; ++i) {
          const float* const from = x.data() + i * columns;
          float* const to = out.data() + i * columns;
          if (down) {
            for (std::int64_t j = 0; j < columns; ++j) to[j] = i == 0 ? from[j] : to[j - columns] + from[j];
          } else {
            float sum = 0;
            for (std::int64_t j = 0; j < columns; ++j) to[j] = sum += from[j];
          }
        }
      });
}
BENCHMARK(cumsum_of_a_matrix)
    ->ArgNames({"rows", "axis"})
    ->Args({2000, 0})
    ->Args({2000, 1})
    ->Args({kMany / 3, 0})
    ->Args({kMany / 3, 1})
    ->Unit(benchmark::kMillisecond);

// Row by row: the order in which a compiler makes vectors of columns.
void multiply_all(const float* a, const float* b, float* out, std::int64_t batches, std::int64_t n) {
  for (std::int64_t m = 0; m < batches; ++m, a += n * n, b += n * n, out += n * n) {
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j < n; ++j) out[i * n + j] = 0;
      for (std::int64_t p = 0; p < n; ++p)
        for (std::int64_t j = 0; j < n; ++j) out[i * n + j] += a[i * n + p] * b[p * n + j];
    }
  }
}

// The same with the size as a constant, which the compiler unrolls.
template <int N>
void multiply_fixed(const float* a, const float* b, float* out, std::int64_t batches, std::int64_t /*n*/) {
  for (std::int64_t m = 0; m < batches; ++m, a += N * N, b += N * N, out += N * N) {
    for (int i = 0; i < N; ++i) {
      float row[N] = {};
      for (int p = 0; p < N; ++p)
        for (int j = 0; j < N; ++j) row[j] += a[i * N + p] * b[p * N + j];
      for (int j = 0; j < N; ++j) out[i * N + j] = row[j];
    }
  }
}

/// Products of `batches` matrices of n x n. `offset` is added to each with `bias`.
void small_products(benchmark::State& state, bool bias) {
  const std::int64_t n = state.range(0), batches = state.range(1);
  const std::vector<float> a = random_floats(batches * n * n), b = random_floats(batches * n * n);
  std::vector<float> out(a.size());
  const Tensor x = Tensor::borrow(a, {batches, n, n}), y = Tensor::borrow(b, {batches, n, n});
  const Tensor one = full({n}, 1.0F).realize();
  const auto multiply = n == 2   ? multiply_fixed<2>
                        : n == 3 ? multiply_fixed<3>
                        : n == 4 ? multiply_fixed<4>
                                 : multiply_all;
  in_turns(
      state, [&] { bias ? (matmul(x, y) + one).realize() : matmul(x, y).realize(); },
      [&] {
        multiply(a.data(), b.data(), out.data(), batches, n);
        if (bias)
          for (float& v : out) v += 1;
      });
}
void matmul_of_small(benchmark::State& state) { small_products(state, false); }
void matmul_of_small_and_add(benchmark::State& state) { small_products(state, true); }

void sizes(benchmark::internal::Benchmark* row) {
  for (const std::int64_t n : {2, 3, 4, 5, 6, 8, 10, 12, 15, 16, 24, 32}) {
    for (const std::int64_t batches : {100, 10'000, 1'000'000}) {
      if (n * n * batches <= 40'000'000) row->Args({n, batches});
    }
  }
  row->Unit(benchmark::kMillisecond)->MinTime(0.2);
}
BENCHMARK(matmul_of_small)->Apply(sizes);
BENCHMARK(matmul_of_small_and_add)->Args({3, 100'000})->Args({8, 20'000})->Unit(benchmark::kMillisecond);

}  // namespace

int main(int count, char** words) { return oriel::bench::main_on_one_thread(count, words); }
