// Fused elementwise chains and reductions, compared with hand-written loops over the same memory in one run.
#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdint>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "in_turns.hpp"
#include "oriel/oriel.hpp"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace {

using namespace oriel;

constexpr std::int64_t kBig = 16 << 20;

struct Data {
  std::vector<float> a, b, c, out;
  Data() : a(kBig), b(kBig), c(kBig), out(kBig) {
    for (std::size_t i = 0; i < a.size(); ++i) {
      a[i] = static_cast<float>(i % 1013) / 1013 - 0.5F;
      b[i] = static_cast<float>(i % 2027) / 2027 - 0.5F;
      c[i] = static_cast<float>(i % 3041) / 3041 - 0.5F;
    }
  }
};
Data& data() {
  static Data d;
  return d;
}

template <class F>
void on_two_threads(std::int64_t n, F&& f) {
  std::thread other([&] { f(n / 2, n); });
  f(0, n / 2);
  other.join();
}

void set_bytes(benchmark::State& state, double bytes) {
  state.counters["GB/s"] = benchmark::Counter(bytes / 1e9, benchmark::Counter::kIsIterationInvariantRate);
}

// The limit: three reads and one write per element, in a plain loop that the compiler vectorises.
void limit_three_reads_one_write(benchmark::State& state) {
  Data& d = data();
  for (auto _ : state) {
    on_two_threads(kBig, [&](std::int64_t lo, std::int64_t hi) {
      const float *a = d.a.data(), *b = d.b.data(), *c = d.c.data();
      float* __restrict out = d.out.data();
      for (std::int64_t i = lo; i < hi; ++i) out[i] = a[i] + b[i] + c[i];
    });
    benchmark::ClobberMemory();
  }
  set_bytes(state, 4.0 * 4 * kBig);
}
BENCHMARK(limit_three_reads_one_write)->Unit(benchmark::kMillisecond)->UseRealTime();

#if defined(__SSE2__)
// The same with non-temporal stores, which Oriel uses for results of 32 MiB and more.
void limit_streamed(benchmark::State& state) {
  Data& d = data();
  for (auto _ : state) {
    on_two_threads(kBig, [&](std::int64_t lo, std::int64_t hi) {
      const float *a = d.a.data(), *b = d.b.data(), *c = d.c.data();
      float* out = d.out.data();
      while (lo < hi && reinterpret_cast<std::uintptr_t>(out + lo) % 16 != 0) {
        out[lo] = a[lo] + b[lo] + c[lo];
        ++lo;
      }
      std::int64_t i = lo;
      for (; i + 4 <= hi; i += 4)
        _mm_stream_ps(out + i, _mm_add_ps(_mm_add_ps(_mm_loadu_ps(a + i), _mm_loadu_ps(b + i)), _mm_loadu_ps(c + i)));
      for (; i < hi; ++i) out[i] = a[i] + b[i] + c[i];
      _mm_sfence();
    });
    benchmark::ClobberMemory();
  }
  set_bytes(state, 4.0 * 4 * kBig);
}
BENCHMARK(limit_streamed)->Unit(benchmark::kMillisecond)->UseRealTime();
#endif

void chain_16m(benchmark::State& state) {
  Data& d = data();
  const Tensor a = Tensor::borrow(d.a, {kBig}), b = Tensor::borrow(d.b, {kBig}), c = Tensor::borrow(d.c, {kBig});
  for (auto _ : state) {
    Tensor r = (a * b + c) * 2.0F - a;
    r.realize();
    benchmark::DoNotOptimize(r);
  }
  set_bytes(state, 4.0 * 4 * kBig);
}
BENCHMARK(chain_16m)->Unit(benchmark::kMillisecond)->UseRealTime();

void transcendental_chain_16m(benchmark::State& state) {
  Data& d = data();
  const Tensor a = Tensor::borrow(d.a, {kBig}), b = Tensor::borrow(d.b, {kBig}), c = Tensor::borrow(d.c, {kBig});
  for (auto _ : state) {
    Tensor r = relu(a * b + c) * exp(-abs(a)) + 0.5F * tanh(b);
    r.realize();
    benchmark::DoNotOptimize(r);
  }
  set_bytes(state, 4.0 * 4 * kBig);
}
BENCHMARK(transcendental_chain_16m)->Unit(benchmark::kMillisecond)->UseRealTime();

void limit_read(benchmark::State& state) {
  Data& d = data();
  for (auto _ : state) {
    on_two_threads(kBig, [&](std::int64_t lo, std::int64_t hi) {
      float lanes[16] = {};
      const float* a = d.a.data();
      for (std::int64_t i = lo; i + 16 <= hi; i += 16)
        for (int l = 0; l < 16; ++l) lanes[l] += a[i + l];
      float s = 0;
      for (float l : lanes) s += l;
      benchmark::DoNotOptimize(s);
    });
  }
  set_bytes(state, 4.0 * kBig);
}
BENCHMARK(limit_read)->Unit(benchmark::kMillisecond)->UseRealTime();

void reduction(benchmark::State& state, const Axes& axes, bool largest) {
  const Tensor x = Tensor::borrow(data().a, {4096, 4096});
  for (auto _ : state) {
    Tensor r = largest ? max(x, axes) : sum(x, axes);
    r.realize();
    benchmark::DoNotOptimize(r);
  }
  set_bytes(state, 4.0 * kBig);
}
void sum_all_4096(benchmark::State& state) { reduction(state, {}, false); }
void sum_rows_4096(benchmark::State& state) { reduction(state, 1, false); }
void sum_columns_4096(benchmark::State& state) { reduction(state, 0, false); }
void max_columns_4096(benchmark::State& state) { reduction(state, 0, true); }
BENCHMARK(sum_all_4096)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(sum_rows_4096)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(sum_columns_4096)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(max_columns_4096)->Unit(benchmark::kMillisecond)->UseRealTime();

void softmax_4096(benchmark::State& state) {
  const Tensor x = Tensor::borrow(data().a, {4096, 4096});
  for (auto _ : state) {
    Tensor r = softmax(x);
    r.realize();
    benchmark::DoNotOptimize(r);
  }
  set_bytes(state, 2 * 4.0 * kBig);
}
BENCHMARK(softmax_4096)->Unit(benchmark::kMillisecond)->UseRealTime();

// A chain of pad, shrink, flip, transpose, reshape, scale and row sum.
void movement_chain_2048(benchmark::State& state) {
  const std::vector<float> some(data().a.begin(), data().a.begin() + 2048 * 2048);
  const Tensor x = Tensor::borrow(some, {2048, 2048});
  for (auto _ : state) {
    Tensor t = pad(x, {{1, 1}, {1, 1}}).shrink({{1, 2049}, {1, 2049}}).flip(0).transpose().reshape({1024, 4096});
    Tensor r = sum((t + 1.0F) * 2.0F, 1);
    r.realize();
    benchmark::DoNotOptimize(r);
  }
  set_bytes(state, 4.0 * 2048 * 2048);
}
BENCHMARK(movement_chain_2048)->Unit(benchmark::kMillisecond)->UseRealTime();

// One elementwise kernel over two 8x64x56x56 operands in other memory formats, and over row-major ones, in turns, so
// that other load on the machine affects both. The row is the time over the other formats, `row_major_ms` the median
// over row-major operands; `ratio` is the ratio of the medians.
void formats_8x64x56x56(benchmark::State& state, bool mixed, Tensor (*op)(const Tensor&, const Tensor&)) {
  const Shape shape{8, 64, 56, 56};
  const std::size_t n = 8 * 64 * 56 * 56;
  const Tensor a = Tensor::from(std::span<const float>(data().a.data(), n), shape);
  const Tensor b = Tensor::from(std::span<const float>(data().b.data(), n), shape);
  const Tensor a_last = a.to(MemoryFormat::channels_last).realize();
  const Tensor b_other = mixed ? b * 1.5F : b.to(MemoryFormat::channels_last);
  b_other.realize();
  const bench::Turns turns = bench::take_turns(
      state, [&] { op(a_last, b_other).realize(); }, [&] { op(a, b).realize(); });
  const double other = bench::Times::median(turns.ours.wall), row = bench::Times::median(turns.theirs.wall);
  state.counters["row_major_ms"] = row * 1e3;
  state.counters["ratio"] = other / row;
}
Tensor plain_add(const Tensor& a, const Tensor& b) { return a + b; }
Tensor scaled_relu(const Tensor& a, const Tensor& b) { return relu(a * b) + 1.0F; }
void add_channels_last(benchmark::State& state) { formats_8x64x56x56(state, false, plain_add); }
void add_mixed_formats(benchmark::State& state) { formats_8x64x56x56(state, true, plain_add); }
void relu_channels_last(benchmark::State& state) { formats_8x64x56x56(state, false, scaled_relu); }
void relu_mixed_formats(benchmark::State& state) { formats_8x64x56x56(state, true, scaled_relu); }
BENCHMARK(add_channels_last)->Unit(benchmark::kMillisecond)->UseRealTime()->MinTime(2);
BENCHMARK(add_mixed_formats)->Unit(benchmark::kMillisecond)->UseRealTime()->MinTime(2);
BENCHMARK(relu_channels_last)->Unit(benchmark::kMillisecond)->UseRealTime()->MinTime(2);
BENCHMARK(relu_mixed_formats)->Unit(benchmark::kMillisecond)->UseRealTime()->MinTime(2);

}  // namespace

BENCHMARK_MAIN();
