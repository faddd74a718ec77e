// Writing and combining at positions that are data, each in turns with the plain loop that a C++ programmer would
// write, on one thread. Counters as in everyday_bench.cpp.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "in_turns.hpp"
#include "oriel/oriel.hpp"

namespace {

using namespace oriel;
using bench::in_turns;
using bench::random_floats;

using Positions = std::vector<std::int64_t>;

Positions random_positions(std::int64_t count, std::int64_t entries) {
  std::mt19937 random(7);
  Positions out(static_cast<std::size_t>(count));
  for (std::int64_t& p : out) p = static_cast<std::int64_t>(random() % static_cast<std::uint32_t>(entries));
  return out;
}

constexpr std::int64_t kMany = 4'000'000;

// Adds numbers to entries: few entries are many duplicates.
void add_numbers(benchmark::State& state) {
  const std::int64_t entries = state.range(0);
  const Positions at = random_positions(kMany, entries);
  const std::vector<float> v = random_floats(kMany);
  std::vector<float> out(static_cast<std::size_t>(entries));
  const Tensor index = Tensor::borrow(at, {kMany}), values = Tensor::borrow(v, {kMany});
  in_turns(
      state, [&] { put_add(zeros(entries), index, values).realize(); },
      [&] {
        std::fill(out.begin(), out.end(), 0.0F);
        for (std::size_t k = 0; k < v.size(); ++k) out[static_cast<std::size_t>(at[k])] += v[k];
      });
}
BENCHMARK(add_numbers)
    ->ArgName("entries")
    ->Arg(1)
    ->Arg(1000)
    ->Arg(400'000)
    ->Arg(40'000'000)
    ->Unit(benchmark::kMillisecond);

void count_numbers(benchmark::State& state) {
  const std::int64_t entries = state.range(0);
  const Positions at = random_positions(kMany, entries);
  const Tensor index = Tensor::borrow(at, {kMany});
  Positions counts(static_cast<std::size_t>(entries));
  in_turns(
      state, [&] { segment_sum(1, index, entries).realize(); },
      [&] {
        std::fill(counts.begin(), counts.end(), 0);
        for (const std::int64_t p : at) ++counts[static_cast<std::size_t>(p)];
      });
}
BENCHMARK(count_numbers)->ArgName("entries")->Arg(256)->Arg(1'000'000)->Unit(benchmark::kMillisecond);

void write_numbers(benchmark::State& state) {
  const std::int64_t entries = state.range(0);
  const Positions at = random_positions(kMany, entries);
  const std::vector<float> v = random_floats(kMany);
  std::vector<float> out(static_cast<std::size_t>(entries));
  const Tensor index = Tensor::borrow(at, {kMany}), values = Tensor::borrow(v, {kMany});
  in_turns(
      state, [&] { put(zeros(entries), index, values).realize(); },
      [&] {
        std::fill(out.begin(), out.end(), 0.0F);
        for (std::size_t k = 0; k < v.size(); ++k) out[static_cast<std::size_t>(at[k])] = v[k];
      });
}
BENCHMARK(write_numbers)->ArgName("entries")->Arg(400'000)->Arg(kMany)->Unit(benchmark::kMillisecond);

// Rows of a table: what the derivative of an embedding adds.
void add_rows(benchmark::State& state) {
  constexpr std::int64_t kRows = 60'000, kEntries = 10'000;
  const std::int64_t width = state.range(0);
  const Positions at = random_positions(kRows, kEntries);
  const std::vector<float> v = random_floats(kRows * width);
  std::vector<float> out(static_cast<std::size_t>(kEntries * width));
  const Tensor index = Tensor::borrow(at, {kRows}), values = Tensor::borrow(v, {kRows, width});
  in_turns(
      state,
      [&] {
        put_add(zeros({kEntries, width}), index, values).realize();
      },
      [&] {
        std::fill(out.begin(), out.end(), 0.0F);
        for (std::int64_t k = 0; k < kRows; ++k) {
          float* const to = out.data() + at[static_cast<std::size_t>(k)] * width;
          const float* const from = v.data() + k * width;
          for (std::int64_t j = 0; j < width; ++j) to[j] += from[j];
        }
      });
}
BENCHMARK(add_rows)->ArgName("width")->Arg(8)->Arg(64)->Unit(benchmark::kMillisecond);

void scatter_add_elements(benchmark::State& state) {
  constexpr std::int64_t kRows = 2000, kEntries = 500, kKeys = 2000;
  const Positions at = random_positions(kRows * kKeys, kEntries);
  const std::vector<float> v = random_floats(kRows * kKeys);
  std::vector<float> out(static_cast<std::size_t>(kRows * kEntries));
  const Tensor index = Tensor::borrow(at, {kRows, kKeys}), values = Tensor::borrow(v, {kRows, kKeys});
  in_turns(
      state,
      [&] {
        scatter_add(zeros({kRows, kEntries}), index, values, 1).realize();
      },
      [&] {
        std::fill(out.begin(), out.end(), 0.0F);
        for (std::int64_t i = 0; i < kRows; ++i)
          for (std::int64_t k = 0; k < kKeys; ++k)
            out[static_cast<std::size_t>(i * kEntries + at[static_cast<std::size_t>(i * kKeys + k)])] +=
                v[static_cast<std::size_t>(i * kKeys + k)];
      });
}
BENCHMARK(scatter_add_elements)->Unit(benchmark::kMillisecond);

void histogram_of_floats(benchmark::State& state) {
  const std::vector<float> v = random_floats(kMany);
  constexpr std::int64_t kBins = 100;
  Positions counts(kBins);
  const Tensor x = Tensor::borrow(v, {kMany});
  in_turns(
      state, [&] { histogram(x, kBins, {.range = std::pair(-1.0, 1.0)}).counts.realize(); },
      [&] {
        std::fill(counts.begin(), counts.end(), 0);
        for (const float f : v) {
          if (f < -1 || f > 1) continue;
          ++counts[std::min<std::size_t>(static_cast<std::size_t>((f + 1) * (kBins / 2.0F)), kBins - 1)];
        }
      });
}
BENCHMARK(histogram_of_floats)->Unit(benchmark::kMillisecond);

// Grey values of a picture by their cumulative histogram.
void equalised_picture(benchmark::State& state) {
  constexpr std::int64_t kSide = 2000;
  std::vector<std::uint8_t> picture(kSide * kSide), out(picture.size());
  std::mt19937 random(9);
  for (std::uint8_t& v : picture) v = static_cast<std::uint8_t>(random() % 90 + random() % 90);
  const Tensor x = Tensor::borrow(picture, {kSide, kSide});
  in_turns(
      state,
      [&] {
        const Tensor levels = cumsum(segment_sum(1, x.reshape(-1), 256), 0) * 255 / (kSide * kSide);
        take(levels.to(DType::uint8), x).realize();
      },
      [&] {
        std::int64_t counts[256] = {};
        for (const std::uint8_t v : picture) ++counts[v];
        std::uint8_t level[256];
        std::int64_t sum = 0;
        for (int k = 0; k < 256; ++k) {
          sum += counts[k];
          level[k] = static_cast<std::uint8_t>(sum * 255 / (kSide * kSide));
        }
        for (std::size_t k = 0; k < picture.size(); ++k) out[k] = level[picture[k]];
      });
}
BENCHMARK(equalised_picture)->Unit(benchmark::kMillisecond);

/// What reads or writes at int64 positions in a table, in turns with the same call whose positions are not checked.
template <class F>
void in_turns_with_unchecked(benchmark::State& state, const F& call, std::int64_t width = 1) {
  const std::int64_t count = std::int64_t{1} << state.range(0), entries = 1'000'000 / width;
  const Positions at = random_positions(count, entries);
  const Tensor index = Tensor::borrow(at, {count});
  const Tensor table = (arange(entries * width) % 1000).to(DType::float32).reshape({entries, width}).realize();
  in_turns(
      state, [&] { call(table, index, Bounds::checked).realize(); },
      [&] { call(table, index, Bounds::zero).realize(); });
}
void checked_take(benchmark::State& state) {
  in_turns_with_unchecked(
      state, [](const Tensor& x, const Tensor& index, Bounds bounds) { return take(x.reshape(-1), index, 0, bounds); });
}
void checked_gather(benchmark::State& state) {
  in_turns_with_unchecked(state, [](const Tensor& x, const Tensor& index, Bounds bounds) {
    return gather(x.reshape(-1), index, 0, bounds);
  });
}
void checked_put_add(benchmark::State& state) {
  in_turns_with_unchecked(state, [](const Tensor& x, const Tensor& index, Bounds bounds) {
    return put_add(x.reshape(-1), index, 1, 0, bounds);
  });
}
void checked_embedding(benchmark::State& state) {
  constexpr std::int64_t kWidth = 16;
  in_turns_with_unchecked(
      state, [](const Tensor& x, const Tensor& index, Bounds bounds) { return embedding(index, x, bounds); }, kWidth);
}
BENCHMARK(checked_take)->ArgName("log2")->Arg(20)->Arg(22)->Arg(24)->Unit(benchmark::kMillisecond);
BENCHMARK(checked_gather)->ArgName("log2")->Arg(20)->Arg(22)->Arg(24)->Unit(benchmark::kMillisecond);
BENCHMARK(checked_put_add)->ArgName("log2")->Arg(20)->Arg(22)->Arg(24)->Unit(benchmark::kMillisecond);
BENCHMARK(checked_embedding)->ArgName("log2")->Arg(20)->Arg(22)->Unit(benchmark::kMillisecond);

// Ten steps of PageRank over a list of links.
void page_rank_of_links(benchmark::State& state) {
  constexpr std::int64_t kPages = 100'000, kLinks = 1'000'000;
  const Positions from = random_positions(kLinks, kPages);
  Positions to = from;
  std::shuffle(to.begin(), to.end(), std::mt19937(3));
  std::vector<float> degree(kPages, 0.0F), rank(kPages), next(kPages);
  for (const std::int64_t f : from) degree[static_cast<std::size_t>(f)] += 1;
  for (float& d : degree) d = std::max(d, 1.0F);
  const Tensor sources = Tensor::borrow(from, {kLinks}), targets = Tensor::borrow(to, {kLinks});
  const Tensor out_degree = Tensor::borrow(degree, {kPages});
  in_turns(
      state,
      [&] {
        Tensor r = full({kPages}, 1.0F / kPages);
        for (int k = 0; k < 10; ++k)
          r = 0.85F * segment_sum(take(r / out_degree, sources), targets, kPages) + 0.15F / kPages;
        r.realize();
      },
      [&] {
        std::fill(rank.begin(), rank.end(), 1.0F / kPages);
        for (int k = 0; k < 10; ++k) {
          std::fill(next.begin(), next.end(), 0.0F);
          for (std::size_t i = 0; i < from.size(); ++i) {
            const auto f = static_cast<std::size_t>(from[i]);
            next[static_cast<std::size_t>(to[i])] += rank[f] / degree[f];
          }
          for (std::size_t i = 0; i < rank.size(); ++i) rank[i] = 0.85F * next[i] + 0.15F / kPages;
        }
      });
}
BENCHMARK(page_rank_of_links)->Unit(benchmark::kMillisecond);

}  // namespace

int main(int count, char** words) { return oriel::bench::main_on_one_thread(count, words); }
