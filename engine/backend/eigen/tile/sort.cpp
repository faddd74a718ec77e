#include "backend/eigen/tile/one_op.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string_view>
#include <utility>

#include "backend/eigen/tile/machine.hpp"
#include "backend/eigen/tile/worker.hpp"
#include "memory/buffer.hpp"
#include "memory/host.hpp"

namespace oriel::backend::eigen {
namespace {

constexpr std::int64_t kLineBytes = 64;
// The most lines of a tile: with keys only, and with keys and positions.
constexpr std::int64_t kMostLines = 4096;
constexpr std::int64_t kMostPairLines = 1024;
// Rows of at most this length: a position fits beside a key of 32 bits.
constexpr std::int64_t kMostPacked = std::int64_t{1} << 32;

std::int64_t lines_of(std::int64_t extent) {
  return (extent + isa::kSortLines - 1) / isa::kSortLines * isa::kSortLines;
}

double bits_of(std::int64_t n) { return static_cast<double>(std::bit_width(static_cast<std::uint64_t>(n))); }

// The cost of one element of a row in ns on a Zen 4 core. In a tile all lanes count, also those without a row.
// Measured: tiles of 256 lines take 10 ns for each line, tiles of 2048 lines 17 ns (AVX-512). A radix sort of 2048
// float32 takes 4.5 to 7 ns for each element, and its counters 0.7 us for each row.
double tile_sort_cost(const SortPlan& plan, std::int64_t lanes, std::int64_t key_bytes) {
  const auto lines = static_cast<double>(lines_of(plan.sorting.extent));
  double line = 1.6 * bits_of(plan.sorting.extent);
  if (plan.sorting.positions && itemsize(plan.dtype) == 8) line *= 3;
  const std::string_view level = plan.table->name;
  if (level == "avx2") line *= 2.5;
  // Without 64-bit comparison, elements of 8 bytes are exchanged one by one.
  if (level == "baseline") line *= key_bytes == 8 ? 16 : 6;
  const std::int64_t tiles = (plan.sorting.rows + lanes - 1) / lanes;
  return lines * line * static_cast<double>(tiles);
}
double digits_cost(const SortPlan& plan, std::int64_t key_bytes) {
  const double each = static_cast<double>(key_bytes) * (plan.sorting.positions ? 2.5 : 1.7);
  return static_cast<double>(plan.sorting.rows) *
         (200 + 150 * static_cast<double>(key_bytes) + each * static_cast<double>(plan.sorting.extent));
}

/// The bytes of a key that a radix sort processes one after the other.
std::int64_t digit_bytes(const SortPlan& plan) {
  const auto bytes = static_cast<std::int64_t>(itemsize(plan.dtype));
  return plan.sorting.positions ? std::max<std::int64_t>(bytes, 4) : bytes;
}

/// Items of 64 bits sorted by their upper half: a key of up to 32 bits above the position.
struct Packed {
  using Item = std::uint64_t;
  static constexpr int kFirstBit = 32;
  static constexpr int kLastBit = 64;
  static std::uint64_t key(Item item) { return item ^ (std::uint64_t{1} << 63); }
};
struct Pair {
  std::int64_t key;
  std::int64_t position;
};
struct PairItem {
  using Item = Pair;
  static constexpr int kFirstBit = 0;
  static constexpr int kLastBit = 64;
  static std::uint64_t key(const Item& item) { return static_cast<std::uint64_t>(item.key) ^ (std::uint64_t{1} << 63); }
};
template <class T>
struct Alone {
  using Item = T;
  static constexpr int kFirstBit = 0;
  static constexpr int kLastBit = 8 * sizeof(T);
  static T key(T item) { return static_cast<T>(item ^ static_cast<T>(T{1} << (kLastBit - 1))); }
};

/// Sorts n items by their keys with the lowest digit first, which keeps the order of equal keys. A digit that all items
/// share is skipped. Returns where the result is: `items` or `other`. Digits have 8 bits, so that all places that are
/// written to lie in the first-level cache. Digits of 11 bits take 0.9 times as long if both arrays fit the
/// second-level cache, and 1.2 to 1.7 times as long beyond it.
template <class Of>
typename Of::Item* sort_by_digits(typename Of::Item* items, typename Of::Item* other, std::int64_t n) {
  using Item = typename Of::Item;
  constexpr int bits = 8;
  constexpr int passes = (Of::kLastBit - Of::kFirstBit) / bits;
  constexpr std::size_t values = std::size_t{1} << bits;
  const auto digit = [](const auto& key, int pass) {
    return static_cast<std::size_t>(key >> (Of::kFirstBit + pass * bits)) & (values - 1);
  };
  using Counts = std::array<std::int64_t, values>;
  auto* const counts = reinterpret_cast<Counts*>(thread_memory(1, passes * static_cast<std::int64_t>(sizeof(Counts))));
  for (int p = 0; p < passes; ++p) counts[p].fill(0);
  for (std::int64_t i = 0; i < n; ++i) {
    const auto key = Of::key(items[i]);
    for (int p = 0; p < passes; ++p) ++counts[p][digit(key, p)];
  }
  for (int p = 0; p < passes; ++p) {
    Counts& count = counts[p];
    if (count[digit(Of::key(items[0]), p)] == n) continue;
    std::int64_t before = 0;
    for (std::int64_t& c : count) before += std::exchange(c, before);
    for (std::int64_t i = 0; i < n; ++i) {
      const Item item = items[i];
      other[count[digit(Of::key(item), p)]++] = item;
    }
    std::swap(items, other);
  }
  return items;
}

class Sorter {
 public:
  Sorter(const SortPlan& plan, std::span<void* const> arguments)
      : plan_(plan),
        fns_(plan.table->sort),
        dtype_(static_cast<std::size_t>(plan.dtype)),
        bytes_(static_cast<std::int64_t>(itemsize(plan.dtype))),
        extent_(plan.sorting.extent),
        in_(static_cast<const char*>(arguments[0])),
        out_(static_cast<char*>(arguments[1])) {}

  /// Sorts rows [first, first + rows), at most as many as a tile holds.
  void tile(std::int64_t first, std::int64_t rows) const {
    if (plan_.sorting.positions)
      positions_tile(first, rows);
    else
      elements_tile(first, rows);
  }

  void row(std::int64_t r) const {
    if (plan_.sorting.positions) {
      return bytes_ == 8 || extent_ > kMostPacked ? wide_positions(r) : positions(r);
    }
    switch (bytes_) {
      case 1:
        return elements<std::uint8_t>(r);
      case 2:
        return elements<std::uint16_t>(r);
      case 4:
        return elements<std::uint32_t>(r);
      default:
        return elements<std::uint64_t>(r);
    }
  }

 private:
  const char* in(std::int64_t r) const { return in_ + r * extent_ * bytes_; }
  std::int64_t* positions_out(std::int64_t r) const { return reinterpret_cast<std::int64_t*>(out_) + r * extent_; }
  isa::CopyFn turn(std::int64_t bytes) const {
    return plan_.table->copy[std::countr_zero(static_cast<unsigned>(bytes))];
  }

  void elements_tile(std::int64_t first, std::int64_t rows) const {
    const std::int64_t lines = lines_of(extent_), lanes = plan_.lanes, n = extent_ * lanes;
    char* const tile = thread_memory(0, lines * kLineBytes);
    if (rows < lanes) std::memset(tile, 0, static_cast<std::size_t>(extent_ * kLineBytes));
    turn(bytes_)(tile, 1, lanes, in(first), extent_, 1, rows, extent_);
    fns_.keys[dtype_](tile, tile, n);
    if (plan_.sorting.descending) invert(tile);
    fill_last(tile, lines);
    fns_.columns[std::countr_zero(static_cast<unsigned>(bytes_))](tile, lines);
    if (plan_.sorting.descending) invert(tile);
    fns_.elements[dtype_](tile, tile, n);
    turn(bytes_)(out_ + first * extent_ * bytes_, extent_, 1, tile, 1, lanes, rows, extent_);
  }

  // Reverses the order of the keys.
  void invert(char* tile) const {
    auto* const keys = reinterpret_cast<std::uint64_t*>(tile);
    for (std::int64_t i = 0; i < extent_ * kLineBytes / 8; ++i) keys[i] = ~keys[i];
  }

  // Fills the lines after the last element with the largest number of the width.
  void fill_last(char* tile, std::int64_t lines) const {
    const auto top = [&]<class T>(T largest) {
      T* const at = reinterpret_cast<T*>(tile + extent_ * kLineBytes);
      std::fill(at, at + (lines - extent_) * kLineBytes / static_cast<std::int64_t>(sizeof(T)), largest);
    };
    switch (plan_.sorting.positions ? 8 : bytes_) {
      case 1:
        return top(std::int8_t{INT8_MAX});
      case 2:
        return top(std::int16_t{INT16_MAX});
      case 4:
        return top(std::int32_t{INT32_MAX});
      default:
        return top(std::int64_t{INT64_MAX});
    }
  }

  // Keys of 8 bytes in lines of 8 lanes. In keys of narrower elements the position is the lower half.
  void positions_tile(std::int64_t first, std::int64_t rows) const {
    const std::int64_t lines = lines_of(extent_), lanes = plan_.lanes, n = extent_ * lanes;
    const bool wide = bytes_ == 8;
    char* const memory = thread_memory(0, 2 * lines * kLineBytes);
    char* const tile = memory;
    char* const beside = memory + lines * kLineBytes;
    if (rows < lanes) std::memset(beside, 0, static_cast<std::size_t>(n * bytes_));
    turn(bytes_)(beside, 1, lanes, in(first), extent_, 1, rows, extent_);
    fns_.wide_keys[dtype_](tile, beside, n, plan_.sorting.descending);
    fill_last(tile, lines);
    auto* const keys = reinterpret_cast<std::int64_t*>(tile);
    auto* const places = reinterpret_cast<std::int64_t*>(beside);
    if (wide) {
      for (std::int64_t i = 0; i < lines; ++i) std::fill_n(places + i * lanes, lanes, i);
      fns_.pairs(tile, beside, lines);
      turn(8)(positions_out(first), extent_, 1, beside, 1, lanes, rows, extent_);
      return;
    }
    for (std::int64_t i = 0; i < extent_; ++i)
      for (std::int64_t l = 0; l < lanes; ++l) keys[i * lanes + l] |= i;
    fns_.columns[3](tile, lines);
    for (std::int64_t i = 0; i < n; ++i) keys[i] &= 0xffffffff;
    turn(8)(positions_out(first), extent_, 1, tile, 1, lanes, rows, extent_);
  }

  template <class T>
  void elements(std::int64_t r) const {
    T* const out = reinterpret_cast<T*>(out_) + r * extent_;
    const mem::Buffer room(mem::host_allocator(), static_cast<std::size_t>(extent_) * sizeof(T));
    T* const keys = static_cast<T*>(room.data());
    fns_.keys[dtype_](keys, in(r), extent_);
    const T* const sorted = sort_by_digits<Alone<T>>(keys, out, extent_);
    fns_.elements[dtype_](out, sorted, extent_);
    if (plan_.sorting.descending) std::reverse(out, out + extent_);
  }

  void positions(std::int64_t r) const {
    auto* const out = reinterpret_cast<std::uint64_t*>(positions_out(r));
    const mem::Buffer room(mem::host_allocator(), static_cast<std::size_t>(extent_) * 8);
    auto* const items = static_cast<std::uint64_t*>(room.data());
    fns_.wide_keys[dtype_](items, in(r), extent_, plan_.sorting.descending);
    for (std::int64_t i = 0; i < extent_; ++i) items[i] |= static_cast<std::uint64_t>(i);
    const std::uint64_t* const sorted = sort_by_digits<Packed>(items, out, extent_);
    for (std::int64_t i = 0; i < extent_; ++i) out[i] = sorted[i] & 0xffffffff;
  }

  void wide_positions(std::int64_t r) const {
    std::int64_t* const out = positions_out(r);
    const mem::Buffer room(mem::host_allocator(), static_cast<std::size_t>(extent_) * 2 * sizeof(Pair));
    auto* const items = static_cast<Pair*>(room.data());
    fns_.wide_keys[dtype_](out, in(r), extent_, plan_.sorting.descending);
    for (std::int64_t i = 0; i < extent_; ++i) items[i] = {out[i], i};
    const Pair* const sorted = sort_by_digits<PairItem>(items, items + extent_, extent_);
    for (std::int64_t i = 0; i < extent_; ++i) out[i] = sorted[i].position;
  }

  const SortPlan& plan_;
  const isa::SortFns& fns_;
  const std::size_t dtype_;
  const std::int64_t bytes_;
  const std::int64_t extent_;
  const char* const in_;
  char* const out_;
};

}  // namespace

std::shared_ptr<const SortPlan> make_sort_plan(const codegen::LoopProgram& program, const isa::Table& table) {
  auto plan = std::make_shared<SortPlan>();
  plan->sorting = *program.sorting;
  plan->dtype = program.arguments[0].dtype;
  plan->table = &table;
  const codegen::Sorting& s = plan->sorting;
  const auto bytes = static_cast<std::int64_t>(itemsize(plan->dtype));
  const std::int64_t key_bytes = s.positions ? 8 : bytes;
  const std::int64_t lanes = kLineBytes / key_bytes;
  // A position shares its key's 64 bits, unless the key needs all of them.
  const std::int64_t most = s.positions && bytes == 8 ? kMostPairLines : kMostLines;
  if (s.extent <= most && tile_sort_cost(*plan, lanes, key_bytes) <= digits_cost(*plan, digit_bytes(*plan)))
    plan->lanes = lanes;
  return plan;
}

double SortPlan::nanoseconds() const {
  return lanes > 0 ? tile_sort_cost(*this, lanes, kLineBytes / lanes) : digits_cost(*this, digit_bytes(*this));
}

std::string SortPlan::describe(const codegen::LoopProgram& /*program*/) const {
  if (lanes > 0) return fmt::format("network: {} rows side by side", lanes);
  return "radix: digit by digit, row by row";
}

void SortPlan::run(const Team& threads, std::span<void* const> arguments,
                   std::span<const graph::Scalar> /*parameters*/) const {
  const Sorter sorter(*this, arguments);
  const std::int64_t rows = sorting.rows;
  const std::int64_t step = std::max<std::int64_t>(lanes, 1);
  const std::int64_t steps = (rows + step - 1) / step;
  const auto one = [&](std::int64_t i) {
    if (lanes > 0)
      sorter.tile(i * step, std::min(step, rows - i * step));
    else
      sorter.row(i);
  };
  // About as many instructions as comparisons.
  const double work = static_cast<double>(rows * sorting.extent) * bits_of(sorting.extent);
  if (threads.count() == 1 || work < kParallelWork || steps == 1) {
    for (std::int64_t i = 0; i < steps; ++i) one(i);
    return;
  }
  const std::int64_t tasks = std::min<std::int64_t>(steps, threads.count() * kTasksPerThread);
  threads.run(tasks, [&](std::int64_t t) {
    for (std::int64_t i = steps * t / tasks; i < steps * (t + 1) / tasks; ++i) one(i);
  });
}

}  // namespace oriel::backend::eigen
