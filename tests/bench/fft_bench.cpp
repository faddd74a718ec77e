// Fourier transforms of batches, and arithmetic of complex numbers; peers.py has the rows of NumPy and PyTorch by these
// names. items_per_second counts elements.
#include <benchmark/benchmark.h>

#include "oriel/oriel.hpp"

namespace {

using namespace oriel;

Complex some(const Shape& shape, DType part) {
  return Complex(normal(Key(1), shape, 0, 1, part), normal(Key(2), shape, 0, 1, part)).realize();
}

void rows(benchmark::State& state, std::int64_t elements) { state.SetItemsProcessed(state.iterations() * elements); }

/// Batches of n, complex to complex; the argument of the dtype is the bits of a part.
void fft_rows(benchmark::State& state) {
  const std::int64_t batch = state.range(0), n = state.range(1);
  const Complex z = some({batch, n}, state.range(2) == 64 ? DType::float64 : DType::float32);
  for (auto _ : state) fft(z).realize();
  rows(state, batch * n);
}
BENCHMARK(fft_rows)
    ->Args({4096, 16, 32})
    ->Args({4096, 64, 32})
    ->Args({4096, 256, 32})
    ->Args({4096, 1024, 32})
    ->Args({1024, 4096, 32})
    ->Args({4096, 1024, 64})
    ->Args({4096, 1000, 32})
    ->Args({1024, 1009, 32})
    ->Args({1024, 1021, 64})
    ->Args({1, 1024, 32})
    ->Args({1, 65536, 32})
    ->Args({1, 1048576, 32})
    ->Unit(benchmark::kMicrosecond);

void rfft_rows(benchmark::State& state) {
  const std::int64_t batch = state.range(0), n = state.range(1);
  const Tensor x = some({batch, n}, DType::float32).real();
  for (auto _ : state) rfft(x).realize();
  rows(state, batch * n);
}
BENCHMARK(rfft_rows)->Args({4096, 1024})->Args({4096, 1000})->Args({1, 1024})->Unit(benchmark::kMicrosecond);

void fft2_square(benchmark::State& state) {
  const std::int64_t n = state.range(0);
  const Complex z = some({n, n}, DType::float32);
  for (auto _ : state) fft2(z).realize();
  rows(state, n * n);
}
BENCHMARK(fft2_square)->Arg(256)->Arg(1024)->Unit(benchmark::kMicrosecond);

void dct_rows(benchmark::State& state) {
  const Tensor x = some({4096, 1024}, DType::float32).real();
  for (auto _ : state) dct(x).realize();
  rows(state, 4096 * 1024);
}
BENCHMARK(dct_rows)->Unit(benchmark::kMicrosecond);

/// The magnitude of a product, one kernel.
void complex_chain(benchmark::State& state) {
  const std::int64_t n = 4 << 20;
  const Complex a = some({n}, DType::float32), b = some({n}, DType::float32);
  for (auto _ : state) abs(a * b + conj(a) * 2.0).realize();
  rows(state, n);
}
BENCHMARK(complex_chain)->Unit(benchmark::kMicrosecond);

void complex_matmul(benchmark::State& state) {
  const std::int64_t n = state.range(0);
  const Complex a = some({n, n}, DType::float32), b = some({n, n}, DType::float32);
  for (auto _ : state) matmul(a, b).realize();
  rows(state, n * n);
}
BENCHMARK(complex_matmul)->Arg(512)->Unit(benchmark::kMicrosecond);

}  // namespace

BENCHMARK_MAIN();
