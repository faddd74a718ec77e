// A box seen along one of its columns, the key, as joining and subtracting see it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "shard/boxes.hpp"

namespace oriel::shards {

inline void add_steps(Row& row, const Row& step, std::int64_t count) {
  for (std::size_t c = 0; c < kColumns; ++c) row[c] += step[c] * count;
}

inline std::int64_t floor_quotient(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }  // b > 0
inline std::int64_t ceil_quotient(std::int64_t a, std::int64_t b) { return -floor_quotient(-a, b); }

/// A loop whose key step is positive. For one side of a join `step` leaves the key out: it would count twice.
struct KeyedLoop {
  std::int64_t count;
  std::int64_t key;
  Row step;
};
using KeyedLoops = std::vector<KeyedLoop>;
using KeyedSpan = std::span<const KeyedLoop>;

/// A box whose loops are sorted by their key steps, the greatest first. `free` are the loops that leave the key alone.
struct KeyedBox {
  std::int64_t key = 0;  // that of the first point
  Row start{};
  KeyedLoops loops;
  Loops free;
  bool empty = false;
};
KeyedBox keyed(const Box& box, Column key, bool with_key);

/// The loop without its first `from` steps and with `count` of them.
inline KeyedLoop with_count(KeyedLoop loop, std::int64_t count) {
  loop.count = count;
  return loop;
}
/// The loop that takes so many steps at once.
inline KeyedLoop coarser(KeyedLoop loop, std::int64_t steps, std::int64_t count) {
  loop.key *= steps;
  for (std::int64_t& step : loop.step) step *= steps;
  loop.count = count;
  return loop;
}

/// The greatest key minus the least.
inline std::int64_t reach(KeyedSpan loops) {
  std::int64_t sum = 0;
  for (const KeyedLoop& loop : loops) sum += loop.key * (loop.count - 1);
  return sum;
}

/// A loop put before others, in the order of key steps.
KeyedLoops before(const KeyedLoop& loop, KeyedSpan others);

/// A piece of a run of loops: its first point lies `skipped` steps of the first loop behind that of the run.
struct Piece {
  std::int64_t skipped;
  KeyedLoops loops;
};

/// Cuts the first loop of `fine` where blocks of `coarse` steps begin, whose first one begins `offset` before it: some
/// steps before the first whole block, the whole blocks as a loop over blocks and one inside, and the rest. One piece
/// if there is nothing to cut. Precondition: the loop's key step divides `coarse`.
std::vector<Piece> cut_at_blocks(KeyedSpan fine, std::int64_t coarse, std::int64_t offset);

/// Cuts the first loop into a loop over periods of so many steps with one inside, and the rest.
std::vector<Piece> cut_in_periods(KeyedSpan loops, std::int64_t steps);

/// The least common multiple of two key steps in steps of each; 0, 0 if it exceeds 2^62.
std::pair<std::int64_t, std::int64_t> common_period(std::int64_t a, std::int64_t b);

/// The steps t of a loop with key step `step` for which step * t lies in [least, greatest], cut to [0, count).
struct Steps {
  std::int64_t first;
  std::int64_t end;
  std::int64_t count() const { return end - first; }
};
inline Steps steps_within(std::int64_t step, std::int64_t count, std::int64_t least, std::int64_t greatest) {
  const std::int64_t first = std::max<std::int64_t>(0, ceil_quotient(least, step));
  return {first, std::max(first, std::min(count, floor_quotient(greatest, step) + 1))};
}

}  // namespace oriel::shards
