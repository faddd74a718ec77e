// Contractions: products of matrices and vectors, convolutions, the forward pass of a perceptron. If OpenBLAS can be
// loaded (libopenblas.so.0), it runs the same product in turns with Oriel, so that other load on the machine affects
// both; the row is the time of Oriel.
//
// Counters: GFLOP/s of Oriel by wall clock; ms and blas_ms, medians; ratio, the median of OpenBLAS's time over the
// median of Oriel's; cpu_ratio, the same by processor time, which other programs disturb less.
#include <benchmark/benchmark.h>
#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <random>
#include <thread>
#include <vector>

#include "in_turns.hpp"
#include "oriel/oriel.hpp"

namespace {

using namespace oriel;
using bench::Times;

template <class T>
using Gemm = void (*)(int order, int trans_a, int trans_b, int m, int n, int k, T alpha, const T* a, int lda,
                      const T* b, int ldb, T beta, T* c, int ldc);
constexpr int kRowMajor = 101, kPlain = 111, kTransposed = 112;

/// OpenBLAS's gemm, or null if it is not installed. It uses as many threads as Oriel. OPENBLAS_CORETYPE overrides the
/// processor that it detects: with a lower ORIEL_ISA, set it to one of that level (Haswell; Core2 for the baseline).
template <class T = float>
Gemm<T> blas() {
  static const Gemm<T> gemm = []() -> Gemm<T> {
    const char* threads = std::getenv("ORIEL_THREADS");
    const std::string count = threads != nullptr ? threads : std::to_string(std::thread::hardware_concurrency());
    setenv("OPENBLAS_NUM_THREADS", count.c_str(), 1);
    // Version 0.3.21 treats processors that it does not know as the oldest ones.
    if (__builtin_cpu_supports("avx512bw")) setenv("OPENBLAS_CORETYPE", "SkylakeX", 0);
    void* library = dlopen("libopenblas.so.0", RTLD_NOW);
    if (library == nullptr) return nullptr;
    Gemm<T> f = nullptr;
    *reinterpret_cast<void**>(&f) = dlsym(library, sizeof(T) == 4 ? "cblas_sgemm" : "cblas_dgemm");
    return f;
  }();
  return gemm;
}

template <class T = float>
std::vector<T> numbers(std::int64_t n) {
  static std::mt19937 random(1);
  std::uniform_real_distribution<T> range(-1, 1);
  std::vector<T> v(static_cast<std::size_t>(n));
  for (T& x : v) x = range(random);
  return v;
}

/// Times `build` and `other` in turns. `other` may be empty; `other_name` is its name in the counters.
void in_turn(benchmark::State& state, double flops, const std::function<Tensor()>& build,
             const std::function<void()>& other = {}, const char* other_name = "blas") {
  const auto run = [&] {
    Tensor r = build();
    r.realize();
    benchmark::DoNotOptimize(r);
  };
  run();
  if (other) other();
  const bench::Turns turns = bench::take_turns(state, run, other);
  const double wall = Times::median(turns.ours.wall), cpu = Times::median(turns.ours.cpu);
  state.counters["ms"] = wall * 1e3;
  state.counters["cpu_ms"] = cpu * 1e3;
  state.counters["GFLOP/s"] = flops / wall / 1e9;
  if (!other) return;
  const double w = Times::median(turns.theirs.wall);
  state.counters[std::string(other_name) + "_ms"] = w * 1e3;
  state.counters["ratio"] = w / wall;
  state.counters["cpu_ratio"] = Times::median(turns.theirs.cpu) / cpu;
}

/// a (m x k) times b (k x n); each may be stored transposed.
template <class T>
void matmul_of(benchmark::State& state, int m, int n, int k, bool a_turned, bool b_turned) {
  const std::vector<T> a = numbers<T>(std::int64_t{m} * k), b = numbers<T>(std::int64_t{k} * n);
  std::vector<T> c(static_cast<std::size_t>(m) * static_cast<std::size_t>(n));
  const Tensor x = Tensor::borrow(a, a_turned ? Shape{k, m} : Shape{m, k});
  const Tensor y = Tensor::borrow(b, b_turned ? Shape{n, k} : Shape{k, n});
  std::function<void()> other;
  if (blas<T>() != nullptr) {
    other = [&] {
      blas<T>()(kRowMajor, a_turned ? kTransposed : kPlain, b_turned ? kTransposed : kPlain, m, n, k, 1, a.data(),
                a_turned ? m : k, b.data(), b_turned ? k : n, 0, c.data(), n);
    };
  }
  in_turn(
      state, 2.0 * m * n * k, [&] { return matmul(a_turned ? x.transpose() : x, b_turned ? y.transpose() : y); },
      other);
}
template <class T>
void matmul_square(benchmark::State& state) {
  const int n = static_cast<int>(state.range(0));
  matmul_of<T>(state, n, n, n, state.range(1) != 0, state.range(2) != 0);
}
BENCHMARK_TEMPLATE(matmul_square, float)
    ->ArgNames({"n", "a_turned", "b_turned"})
    ->ArgsProduct({{512, 1024, 2048}, {0, 1}, {0, 1}})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_TEMPLATE(matmul_square, double)
    ->ArgNames({"n", "a_turned", "b_turned"})
    ->ArgsProduct({{512, 1024}, {0, 1}, {0, 1}})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

void matmul_bias_relu_1024(benchmark::State& state) {
  const std::vector<float> a = numbers(1 << 20), b = numbers(1 << 20), c = numbers(1024);
  const Tensor x = Tensor::borrow(a, {1024, 1024}), y = Tensor::borrow(b, {1024, 1024}), z = Tensor::borrow(c, {1024});
  in_turn(state, 2.0 * (1 << 30), [&] { return relu(matmul(x, y) + z); });
}
BENCHMARK(matmul_bias_relu_1024)->Unit(benchmark::kMillisecond)->UseRealTime();

void matmul_batched_64x128(benchmark::State& state) {
  constexpr int kBatches = 64, kN = 128;
  const std::vector<float> a = numbers(kBatches * kN * kN), b = numbers(kBatches * kN * kN);
  std::vector<float> c(kBatches * kN * kN);
  const Tensor x = Tensor::borrow(a, {kBatches, kN, kN}), y = Tensor::borrow(b, {kBatches, kN, kN});
  std::function<void()> other;
  if (blas() != nullptr) {
    other = [&] {
      for (std::size_t i = 0; i < c.size(); i += kN * kN) {
        blas()(kRowMajor, kPlain, kPlain, kN, kN, kN, 1, a.data() + i, kN, b.data() + i, kN, 0, c.data() + i, kN);
      }
    };
  }
  in_turn(
      state, 2.0 * kBatches * kN * kN * kN, [&] { return matmul(x, y); }, other);
}
BENCHMARK(matmul_batched_64x128)->Unit(benchmark::kMillisecond)->UseRealTime();

/// Reads the bytes of a matrix with as many threads as Oriel has.
void read_all(const std::vector<float>& v) {
  const char* setting = std::getenv("ORIEL_THREADS");
  const std::size_t threads =
      setting != nullptr ? static_cast<std::size_t>(std::atoi(setting)) : std::thread::hardware_concurrency();
  typedef float Packet __attribute__((vector_size(64)));
  const auto part = [&](std::size_t t) {
    Packet sums[4] = {};
    for (std::size_t i = v.size() * t / threads; i + 64 <= v.size() * (t + 1) / threads; i += 64) {
      for (std::size_t l = 0; l < 4; ++l) {
        Packet x;
        std::memcpy(&x, v.data() + i + 16 * l, sizeof x);
        sums[l] += x;
      }
    }
    for (Packet& x : sums) benchmark::DoNotOptimize(x);
  };
  std::vector<std::thread> others;
  for (std::size_t t = 1; t < threads; ++t) others.emplace_back(part, t);
  part(0);
  for (std::thread& t : others) t.join();
}

/// Compared with a loop that reads a matrix of the same size.
void vector_product_4096(benchmark::State& state, bool row) {
  constexpr int kN = 4096;
  const std::vector<float> a = numbers(kN), b = numbers(kN * kN), s = b;
  const Tensor x = Tensor::borrow(a, {kN}), y = Tensor::borrow(b, {kN, kN});
  in_turn(
      state, 2.0 * kN * kN, [&] { return row ? matmul(x, y) : matmul(y, x); }, [&] { read_all(s); }, "read");
}
void vector_times_matrix_4096(benchmark::State& state) { vector_product_4096(state, true); }
void matrix_times_vector_4096(benchmark::State& state) { vector_product_4096(state, false); }
BENCHMARK(vector_times_matrix_4096)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(matrix_times_vector_4096)->Unit(benchmark::kMillisecond)->UseRealTime();

/// 3x3 windows of the padded images, as a view: (n, c, h, w, 3, 3).
Tensor windows(const Tensor& x) { return unfold(unfold(pad(x, {{0, 0}, {0, 0}, {1, 1}, {1, 1}}), 2, 3, 1), 3, 3, 1); }

void convolution_3x3(benchmark::State& state) {
  constexpr int kImages = 8, kChannels = 64, kSide = 56, kOut = 64;
  const std::vector<float> a = numbers(kImages * kChannels * kSide * kSide), w = numbers(kOut * kChannels * 9);
  const std::vector<float> b = numbers(kOut);
  const Tensor x = Tensor::borrow(a, {kImages, kChannels, kSide, kSide});
  const Tensor k = Tensor::borrow(w, {1, kOut, kChannels, 1, 1, 3, 3}), bias = Tensor::borrow(b, {kOut, 1, 1});
  in_turn(state, 2.0 * kImages * kOut * kSide * kSide * kChannels * 9, [&] {
    return relu(sum(unsqueeze(windows(x), 1) * k, {2, 5, 6}) + bias);
  });
}
BENCHMARK(convolution_3x3)->Unit(benchmark::kMillisecond)->UseRealTime();

void depthwise_3x3(benchmark::State& state) {
  constexpr int kImages = 8, kChannels = 64, kSide = 56;
  const std::vector<float> a = numbers(kImages * kChannels * kSide * kSide), w = numbers(kChannels * 9);
  const Tensor x = Tensor::borrow(a, {kImages, kChannels, kSide, kSide});
  const Tensor k = Tensor::borrow(w, {kChannels, 1, 1, 3, 3});
  in_turn(state, 2.0 * kImages * kChannels * kSide * kSide * 9, [&] { return sum(windows(x) * k, {4, 5}); });
}
BENCHMARK(depthwise_3x3)->Unit(benchmark::kMillisecond)->UseRealTime();

/// Sums of three factors, of n in each direction; peers.py runs them as numpy.einsum(optimize=True).
void three_factors(benchmark::State& state, const char* text, std::initializer_list<int> ranks, int loops) {
  const auto n = state.range(0);
  std::vector<Operand> operands;
  std::vector<Tensor> tensors;
  for (const int rank : ranks) {
    const Shape shape(static_cast<std::size_t>(rank), SymInt(n));
    std::int64_t count = 1;
    for (int d = 0; d < rank; ++d) count *= n;
    tensors.push_back(Tensor::from(numbers<float>(count), shape));
  }
  operands.assign(tensors.begin(), tensors.end());
  const Comprehension f = comprehension(text);
  in_turn(state, 2 * std::pow(static_cast<double>(n), loops), [&] { return *f.call(operands); });
}
void factors_ijk_jl_kl(benchmark::State& state) {
  three_factors(state,
                "def f(float(I, J, K) X, float(J, L) Y, float(K, L) Z) -> (O) { O(i, l) +=! X(i, j, k) * Y(j, l) * "
                "Z(k, l) }",
                {3, 2, 2}, 4);
}
void factors_ij_jk_kl(benchmark::State& state) {
  three_factors(state,
                "def f(float(I, J) X, float(J, K) Y, float(K, L) Z) -> (O) { O(i, l) +=! X(i, j) * Y(j, k) * Z(k, l) }",
                {2, 2, 2}, 3);
}
void factors_ij_jk_k(benchmark::State& state) {
  three_factors(state, "def f(float(I, J) X, float(J, K) Y, float(K) Z) -> (O) { O(i) +=! X(i, j) * Y(j, k) * Z(k) }",
                {2, 2, 1}, 2);
}
BENCHMARK(factors_ijk_jl_kl)->Arg(16)->Arg(32)->Arg(64)->Arg(96)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(factors_ij_jk_kl)->Arg(64)->Arg(128)->Arg(256)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(factors_ij_jk_k)->Arg(64)->Arg(256)->Unit(benchmark::kMillisecond)->UseRealTime();

/// Layers 784-512-512-10 with relu between them. OpenBLAS runs only the products.
void perceptron(benchmark::State& state) {
  const int batch = static_cast<int>(state.range(0));
  const std::vector<float> in = numbers(batch * 784), a = numbers(784 * 512), b = numbers(512 * 512), c = numbers(5120);
  std::vector<float> p(static_cast<std::size_t>(batch) * 512), q(p.size()), r(static_cast<std::size_t>(batch) * 10);
  const Tensor x = Tensor::borrow(in, {batch, 784}), u = Tensor::borrow(a, {784, 512});
  const Tensor v = Tensor::borrow(b, {512, 512}), w = Tensor::borrow(c, {512, 10});
  std::function<void()> other;
  if (blas() != nullptr) {
    other = [&] {
      const auto product = [&](int n, int k, const float* left, const float* right, float* out) {
        blas()(kRowMajor, kPlain, kPlain, batch, n, k, 1, left, k, right, n, 0, out, n);
      };
      product(512, 784, in.data(), a.data(), p.data());
      product(512, 512, p.data(), b.data(), q.data());
      product(10, 512, q.data(), c.data(), r.data());
    };
  }
  in_turn(
      state, 2.0 * batch * (784 * 512 + 512 * 512 + 5120),
      [&] { return matmul(relu(matmul(relu(matmul(x, u)), v)), w); }, other);
}
BENCHMARK(perceptron)->ArgName("batch")->RangeMultiplier(4)->Range(1, 64)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
