// Row stages and transposing copies, each in turns with expert code written by hand over Eigen, on two threads, so that
// other load on the machine affects both. The row is the time of Oriel, `hand_ms` the median of the hand-written form;
// `ratio` is Oriel's median divided by it.
#include <benchmark/benchmark.h>

#include <Eigen/Core>

#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include "in_turns.hpp"
#include "oriel/oriel.hpp"

namespace {

using namespace oriel;
using Row = Eigen::Map<Eigen::Array<float, 1, Eigen::Dynamic>>;
using ConstRow = Eigen::Map<const Eigen::Array<float, 1, Eigen::Dynamic>>;

struct Matrix {
  std::int64_t rows, columns;
  std::vector<float> in, out;
  Matrix(std::int64_t r, std::int64_t c) : rows(r), columns(c) {
    in.resize(static_cast<std::size_t>(r * c));
    out.resize(in.size());
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i % 1013) / 1013 - 0.5F;
  }
};

template <class F>
void rows_on_two_threads(std::int64_t rows, F&& f) {
  std::thread other([&] {
    for (std::int64_t r = rows / 2; r < rows; ++r) f(r);
  });
  for (std::int64_t r = 0; r < rows / 2; ++r) f(r);
  other.join();
}

void in_turn(benchmark::State& state, const std::function<void()>& ours, const std::function<void()>& hand) {
  const bench::Turns turns = bench::take_turns(state, ours, hand);
  const double mine = bench::Times::median(turns.ours.wall), theirs = bench::Times::median(turns.theirs.wall);
  state.counters["ms"] = mine * 1e3;
  state.counters["hand_ms"] = theirs * 1e3;
  state.counters["ratio"] = mine / theirs;
}

void softmax_rows_4096(benchmark::State& state) {
  Matrix m(4096, 4096);
  const Tensor x = Tensor::borrow(m.in, {m.rows, m.columns});
  in_turn(
      state, [&] { softmax(x).realize(); },
      [&] {
        rows_on_two_threads(m.rows, [&](std::int64_t r) {
          const ConstRow in(m.in.data() + r * m.columns, m.columns);
          Row out(m.out.data() + r * m.columns, m.columns);
          out = (in - in.maxCoeff()).exp();
          out *= 1.0F / out.sum();
        });
      });
}
BENCHMARK(softmax_rows_4096)->Unit(benchmark::kMillisecond)->UseRealTime()->MinTime(2);

void layer_norm_8192x1024(benchmark::State& state) {
  Matrix m(8192, 1024);
  const Tensor x = Tensor::borrow(m.in, {m.rows, m.columns});
  in_turn(
      state, [&] { layer_norm(x).realize(); },
      [&] {
        rows_on_two_threads(m.rows, [&](std::int64_t r) {
          const ConstRow in(m.in.data() + r * m.columns, m.columns);
          Row out(m.out.data() + r * m.columns, m.columns);
          const float mean = in.mean();
          const float variance = (in - mean).square().mean();
          out = (in - mean) * (1.0F / std::sqrt(variance + 1e-5F));
        });
      });
}
BENCHMARK(layer_norm_8192x1024)->Unit(benchmark::kMillisecond)->UseRealTime()->MinTime(2);

// Compared with a copy in order, which is the limit.
void transposing_copy_4096(benchmark::State& state) {
  Matrix m(4096, 4096);
  const Tensor x = Tensor::borrow(m.in, {m.rows, m.columns});
  in_turn(
      state, [&] { x.transpose().contiguous().realize(); },
      [&] {
        rows_on_two_threads(m.rows, [&](std::int64_t r) {
          std::memcpy(m.out.data() + r * m.columns, m.in.data() + r * m.columns,
                      static_cast<std::size_t>(m.columns) * sizeof(float));
        });
      });
}
BENCHMARK(transposing_copy_4096)->Unit(benchmark::kMillisecond)->UseRealTime()->MinTime(2);

}  // namespace

BENCHMARK_MAIN();
