#include "shard/box_parts.hpp"

#include <numeric>

namespace oriel::shards {

KeyedBox keyed(const Box& box, Column key, bool with_key) {
  KeyedBox result;
  result.start = box.start;
  for (const Loop& loop : box.loops) {
    if (loop.count == 0) result.empty = true;
    if (loop.count <= 1) continue;
    if (loop.step[key] == 0) {
      result.free.push_back(loop);
      continue;
    }
    KeyedLoop other{loop.count, loop.step[key], loop.step};
    if (other.key < 0) {
      add_steps(result.start, loop.step, loop.count - 1);
      other.key = -other.key;
      for (std::int64_t& step : other.step) step = -step;
    }
    if (!with_key) other.step[key] = 0;
    result.loops.push_back(other);
  }
  result.key = result.start[key];
  if (!with_key) result.start[key] = 0;
  std::stable_sort(result.loops.begin(), result.loops.end(),
                   [](const KeyedLoop& a, const KeyedLoop& b) { return a.key > b.key; });
  return result;
}

KeyedLoops before(const KeyedLoop& loop, KeyedSpan others) {
  KeyedLoops loops;
  loops.reserve(others.size() + 1);
  if (loop.count != 1) loops.push_back(loop);
  loops.insert(loops.end(), others.begin(), others.end());
  for (std::size_t k = 1; k < loops.size() && loops[k - 1].key < loops[k].key; ++k) std::swap(loops[k - 1], loops[k]);
  return loops;
}

std::vector<Piece> cut_at_blocks(KeyedSpan fine, std::int64_t coarse, std::int64_t offset) {
  const KeyedLoop& loop = fine[0];
  const KeyedSpan inner = fine.subspan(1);
  const std::int64_t steps = coarse / loop.key;
  // The first step that lies in a block from its beginning on.
  const std::int64_t first = ceil_quotient(-offset, loop.key) % steps;
  const std::int64_t head = std::min(loop.count, first < 0 ? first + steps : first);
  const std::int64_t blocks = (loop.count - head) / steps;
  const std::int64_t tail = loop.count - head - blocks * steps;
  std::vector<Piece> pieces;
  if (head > 0) pieces.push_back({0, before(with_count(loop, head), inner)});
  if (blocks > 0) {
    const KeyedLoops within = before(with_count(loop, steps), inner);
    pieces.push_back({head, before(coarser(loop, steps, blocks), within)});
  }
  if (tail > 0) pieces.push_back({head + blocks * steps, before(with_count(loop, tail), inner)});
  return pieces;
}

std::vector<Piece> cut_in_periods(KeyedSpan loops, std::int64_t steps) {
  const KeyedLoop& loop = loops[0];
  const KeyedSpan inner = loops.subspan(1);
  const std::int64_t periods = loop.count / steps;
  const KeyedLoops within = before(with_count(loop, steps), inner);
  std::vector<Piece> pieces{{0, before(coarser(loop, steps, periods), within)}};
  if (const std::int64_t rest = loop.count - periods * steps; rest > 0) {
    pieces.push_back({periods * steps, before(with_count(loop, rest), inner)});
  }
  return pieces;
}

std::pair<std::int64_t, std::int64_t> common_period(std::int64_t a, std::int64_t b) {
  const std::int64_t divisor = std::gcd(a, b);
  std::int64_t multiple = 0;
  if (__builtin_mul_overflow(a, b / divisor, &multiple) || multiple >= (std::int64_t{1} << 62)) return {0, 0};
  return {b / divisor, a / divisor};
}

}  // namespace oriel::shards
