// Reading and combining at positions that are data: rows of a table, sparse matrices, groups, counts, and positions of
// extremes. Each in turns with the plain loop that a C++ programmer would write, on one thread; the counters are those
// of everyday_bench.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "in_turns.hpp"
#include "oriel/oriel.hpp"

namespace {

using namespace oriel;

constexpr std::int64_t kKeys = 100'000;

template <class T>
std::vector<T> numbers(std::int64_t count) {
  std::mt19937 random(5);
  std::vector<T> out(static_cast<std::size_t>(count));
  for (T& x : out) x = static_cast<T>(random() % 2048) / T(1024) - T(1);
  return out;
}
template <class K>
std::vector<K> positions(std::int64_t count, std::int64_t below, bool ascending = false) {
  std::mt19937 random(7);
  std::vector<K> out(static_cast<std::size_t>(count));
  for (K& p : out) p = static_cast<K>(random() % static_cast<std::uint32_t>(below));
  if (ascending) std::ranges::sort(out);
  return out;
}

void row(const std::string& name, std::function<void()> ours, std::function<void()> loop) {
  benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) { bench::in_turns(state, ours, loop); })
      ->Unit(benchmark::kMillisecond)
      ->MinTime(0.2);
}

template <class T>
std::size_t at(T i) {
  return static_cast<std::size_t>(i);
}

/// kKeys rows of kWidth elements out of 10,000.
template <class T, class K, std::int64_t kWidth>
void take_rows(const char* element, const char* key) {
  constexpr std::int64_t kRows = 10'000;
  const auto table = std::make_shared<std::vector<T>>(numbers<T>(kRows * kWidth));
  const auto keys = std::make_shared<std::vector<K>>(positions<K>(kKeys, kRows));
  const auto out = std::make_shared<std::vector<T>>(at(kKeys * kWidth));
  const Tensor x = Tensor::borrow(*table, kWidth == 1 ? Shape{kRows} : Shape{kRows, kWidth});
  const Tensor index = Tensor::borrow(*keys, {kKeys});
  row(
      std::string("take of rows of ") + std::to_string(kWidth) + " " + element + " by " + key,
      [=] { take(x, index, 0).realize(); },
      [=] {
        const T* const from = table->data();
        T* const to = out->data();
        for (std::int64_t i = 0; i < kKeys; ++i)
          for (std::int64_t j = 0; j < kWidth; ++j) to[i * kWidth + j] = from[(*keys)[at(i)] * kWidth + j];
      });
}

template <class T, class K>
void takes(const char* element, const char* key) {
  take_rows<T, K, 1>(element, key);
  take_rows<T, K, 2>(element, key);
  take_rows<T, K, 4>(element, key);
  take_rows<T, K, 32>(element, key);
}

struct Sparse {
  static constexpr std::int64_t kRows = 20'000, kEach = 5, kAll = kRows * kEach;
  std::vector<std::int32_t> columns = positions<std::int32_t>(kAll, kRows), rows, begins{0};
  std::vector<float> values = bench::random_floats(kAll), x = bench::random_floats(kRows),
                     y = std::vector<float>(kRows);
  Tensor c = Tensor::borrow(columns, {kAll}), v = Tensor::borrow(values, {kAll}), dense = Tensor::borrow(x, {kRows}), r;
  Sparse() {
    std::mt19937 random(11);
    std::vector<std::int32_t> lengths(kRows, 0);
    for (std::int64_t k = 0; k < kAll; ++k) ++lengths[random() % kRows];
    for (std::int64_t i = 0; i < kRows; ++i) {
      for (std::int32_t k = 0; k < lengths[at(i)]; ++k) rows.push_back(static_cast<std::int32_t>(i));
      begins.push_back(begins.back() + lengths[at(i)]);
    }
    r = Tensor::borrow(rows, {kAll});
  }
};

void sparse() {
  static Sparse s;
  row(
      "CSR matrix times vector", [] { segment_sum(s.v * take(s.dense, s.c), s.r, Sparse::kRows).realize(); },
      [] {
        for (std::int64_t i = 0; i < Sparse::kRows; ++i) {
          float sum = 0;
          for (std::int32_t k = s.begins[at(i)]; k < s.begins[at(i + 1)]; ++k)
            sum += s.values[at(k)] * s.x[at(s.columns[at(k)])];
          s.y[at(i)] = sum;
        }
      });
  row(
      "take times values", [] { (s.v * take(s.dense, s.c)).realize(); },
      [] {
        static std::vector<float> out(Sparse::kAll);
        for (std::int64_t k = 0; k < Sparse::kAll; ++k) out[at(k)] = s.values[at(k)] * s.x[at(s.columns[at(k)])];
      });
  const Tensor wide = s.c.reshape({Sparse::kRows, Sparse::kEach}).realize(),
               each = s.v.reshape({Sparse::kRows, Sparse::kEach}).realize();
  row(
      "ELL matrix times vector", [=] { sum(each * take(s.dense, wide), 1).realize(); },
      [] {
        for (std::int64_t i = 0; i < Sparse::kRows; ++i) {
          float sum = 0;
          for (std::int64_t k = 0; k < Sparse::kEach; ++k)
            sum += s.values[at(i * Sparse::kEach + k)] * s.x[at(s.columns[at(i * Sparse::kEach + k)])];
          s.y[at(i)] = sum;
        }
      });
}

template <class K>
void groups(const char* key) {
  constexpr std::int64_t kMany = 1'000'000, kGroups = 100'000;
  static const std::vector<K> sorted = positions<K>(kMany, kGroups, true), mixed = positions<K>(kMany, 1000);
  static const std::vector<float> v = bench::random_floats(kMany);
  static std::vector<float> sums(kGroups);
  static std::vector<std::int64_t> counts(kGroups);
  static const Tensor values = Tensor::borrow(v, {kMany}), in_order = Tensor::borrow(sorted, {kMany});
  static const Tensor out_of_order = Tensor::borrow(mixed, {kMany});
  const std::string by = std::string(" by ") + key;
  row(
      "segment_sum of sorted groups" + by, [] { segment_sum(values, in_order, kGroups).realize(); },
      [] {
        std::ranges::fill(sums, 0.0F);
        for (std::int64_t k = 0; k < kMany; ++k) sums[at(sorted[at(k)])] += v[at(k)];
      });
  row(
      "segment_sum of 1000 groups" + by, [] { segment_sum(values, out_of_order, 1000).realize(); },
      [] {
        std::fill_n(sums.begin(), 1000, 0.0F);
        for (std::int64_t k = 0; k < kMany; ++k) sums[at(mixed[at(k)])] += v[at(k)];
      });
  row(
      "bincount" + by, [] { bincount(out_of_order).realize(); },
      [] {
        std::fill_n(counts.begin(), 1000, 0);
        for (const K p : mixed) ++counts[at(p)];
      });
}

template <class T>
void extremes(const char* element, std::int64_t outer, std::int64_t n, std::int64_t inner) {
  const auto data = std::make_shared<std::vector<T>>(numbers<T>(outer * n * inner));
  const auto best = std::make_shared<std::vector<T>>(at(outer * inner));
  const auto place = std::make_shared<std::vector<std::int64_t>>(at(outer * inner));
  const Tensor x = Tensor::borrow(*data, inner == 1 ? Shape{outer, n} : Shape{outer, n, inner});
  const std::string of =
      " of " + std::to_string(outer) + "x" + std::to_string(n) + "x" + std::to_string(inner) + " " + element;
  row(
      "argmax" + of, [=] { argmax(x, 1).realize(); },
      [=] {
        for (std::int64_t i = 0; i < outer; ++i)
          for (std::int64_t j = 0; j < inner; ++j) {
            const T* const from = data->data() + i * n * inner + j;
            std::int64_t found = 0;
            for (std::int64_t k = 1; k < n; ++k)
              if (from[k * inner] > from[found * inner]) found = k;
            (*place)[at(i * inner + j)] = found;
          }
      });
  row(
      "max" + of, [=] { max(x, 1).realize(); },
      [=] {
        for (std::int64_t i = 0; i < outer; ++i)
          for (std::int64_t j = 0; j < inner; ++j) {
            const T* const from = data->data() + i * n * inner + j;
            T found = from[0];
            for (std::int64_t k = 1; k < n; ++k) found = std::max(found, from[k * inner]);
            (*best)[at(i * inner + j)] = found;
          }
      });
}

void truths(std::int64_t rows, std::int64_t n) {
  const auto data = std::make_shared<std::vector<float>>(numbers<float>(rows * n));
  const auto flags = std::make_shared<std::vector<std::uint8_t>>(at(rows * n));
  for (std::size_t i = 0; i < flags->size(); ++i) (*flags)[i] = (*data)[i] > 0.9F;
  for (float& x : *data) x = x > 0.5F ? x : 0;
  const auto counts = std::make_shared<std::vector<std::int64_t>>(at(rows));
  const auto some = std::make_shared<std::vector<std::uint8_t>>(at(rows));
  const Tensor x = Tensor::borrow(*data, {rows, n}), b = (Tensor::borrow(*flags, {rows, n}) != 0).realize();
  const std::string of = " of rows of " + std::to_string(n);
  const auto counting = [=](const auto* from) {
    for (std::int64_t i = 0; i < rows; ++i) {
      std::int64_t found = 0;
      for (std::int64_t k = 0; k < n; ++k) found += from[i * n + k] != 0;
      (*counts)[at(i)] = found;
    }
  };
  row(
      "count_nonzero" + of + " floats", [=] { count_nonzero(x, 1).realize(); }, [=] { counting(data->data()); });
  row(
      "count_nonzero" + of + " bools", [=] { count_nonzero(b, 1).realize(); }, [=] { counting(flags->data()); });
  row(
      "any" + of + " bools", [=] { any(b, 1).realize(); },
      [=] {
        for (std::int64_t i = 0; i < rows; ++i) {
          std::uint8_t found = 0;
          for (std::int64_t k = 0; k < n; ++k) found |= (*flags)[at(i * n + k)];
          (*some)[at(i)] = found;
        }
      });
}

void scattered() {
  constexpr std::int64_t kMany = 1'000'000, kEntries = 100'000;
  static const std::vector<std::int64_t> keys = positions<std::int64_t>(kMany, kEntries);
  static const std::vector<float> v = bench::random_floats(kMany), start = bench::random_floats(kEntries);
  static std::vector<float> out(kEntries);
  static std::vector<std::int64_t> counts(100);
  static const Tensor index = Tensor::borrow(keys, {kMany}), values = Tensor::borrow(v, {kMany});
  static const Tensor x = Tensor::borrow(start, {kEntries});
  row(
      "scatter_add", [] { scatter_add(x, index, values, 0).realize(); },
      [] {
        std::ranges::copy(start, out.begin());
        for (std::int64_t k = 0; k < kMany; ++k) out[at(keys[at(k)])] += v[at(k)];
      });
  row(
      "histogram", [] { histogram(values, 100, {.range = std::pair(-1.0, 1.0)}).counts.realize(); },
      [] {
        std::ranges::fill(counts, 0);
        for (const float f : v) {
          if (f < -1 || f > 1) continue;
          ++counts[std::min<std::size_t>(static_cast<std::size_t>((f + 1) * 50.0F), 99)];
        }
      });
}

}  // namespace

int main(int count, char** words) {
  takes<float, std::int32_t>("floats", "int32");
  takes<float, std::int64_t>("floats", "int64");
  takes<double, std::int32_t>("doubles", "int32");
  takes<double, std::int64_t>("doubles", "int64");
  sparse();
  groups<std::int32_t>("int32");
  groups<std::int64_t>("int64");
  scattered();
  for (const std::int64_t n : {4, 16, 64}) extremes<float>("floats", 400'000 / n, n, 1);
  extremes<float>("floats", 100, 32, 100);
  extremes<double>("doubles", 25'000, 16, 1);
  truths(100'000, 9);
  truths(50'000, 16);
  return oriel::bench::main_on_one_thread(count, words);
}
