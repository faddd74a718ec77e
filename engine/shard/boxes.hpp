// Sets of elements as strided boxes: what ranks hold, what they want, and what they send each other.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "oriel/inline_vector.hpp"

namespace oriel::shards {

/// What a point of a box says. A rank's share is described by the first three; the last two are those of another rank
/// that shares positions with it.
enum Column : std::uint8_t { kPosition, kRank, kLocal, kOtherRank, kOtherLocal };
inline constexpr std::size_t kColumns = 5;

/// A value for each column.
using Row = std::array<std::int64_t, kColumns>;

/// So many steps, each of which adds `step` to the columns.
struct Loop {
  std::int64_t count = 1;
  Row step{};
};
using Loops = InlineVector<Loop, 4>;

/// A strided box: the rows start + sum of t[k] * loops[k].step for all 0 <= t[k] < loops[k].count. Without loops it is
/// the one row `start`.
struct Box {
  Row start{};
  Loops loops;

  /// The number of points.
  std::int64_t count() const noexcept;
};
/// Boxes without common points.
using Boxes = std::vector<Box>;

/// The number of points of all boxes.
std::int64_t count(const Boxes& boxes) noexcept;

/// The rows of all boxes one by one, for tests and for small sets. `visit` takes a Row.
template <class Visit>
void for_each(const Box& box, const Visit& visit) {
  for (const Loop& loop : box.loops) {
    if (loop.count == 0) return;
  }
  InlineVector<std::int64_t, 8> at;
  for (std::size_t k = 0; k < box.loops.size(); ++k) at.push_back(0);
  Row row = box.start;
  while (true) {
    visit(row);
    std::size_t k = box.loops.size();
    while (k > 0) {
      const Loop& loop = box.loops[k - 1];
      const bool on = ++at[k - 1] < loop.count;
      const std::int64_t steps = on ? 1 : 1 - loop.count;
      for (std::size_t c = 0; c < kColumns; ++c) row[c] += steps * loop.step[c];
      if (on) break;
      at[--k] = 0;
    }
    if (k == 0) return;
  }
}

/// Shorter forms of the same sets. `tidy` drops loops of one step and joins loops of which one continues the other;
/// `coalesce` also joins boxes of which one continues the other.
/// @{
void tidy(Box& box);
void coalesce(Boxes& boxes);
/// @}

/// Pairs of a point of `a` and one of `b` that agree in column `key`: their rows added up, where column `key` counts
/// once. The columns other than `key` that `a` uses must be 0 in `b`. Exact: each pair belongs to one box.
///
/// The number of boxes does not depend on extents if each key step of one side divides the next larger one of both.
/// Where two do not divide each other, it grows with their least common multiple, not beyond.
Boxes join(const Boxes& a, const Boxes& b, Column key);

/// The points of `a` whose key no point of `b` has.
Boxes subtract(const Boxes& a, const Boxes& b, Column key);

/// One point for each key that `boxes` has, so that each position is fetched once.
Boxes distinct(const Boxes& boxes, Column key);

/// The points with this value in the column.
Boxes select(const Boxes& boxes, Column column, std::int64_t value);

/// The values of a column, ascending, each once. Takes time in proportion to these, if only loops of other columns
/// repeat them.
std::vector<std::int64_t> values(const Boxes& boxes, Column column);

/// The columns moved: column to[c] of the result is column c of the boxes. Columns that `to` does not name are 0.
Boxes moved(const Boxes& boxes, std::span<const Column> from, std::span<const Column> to);

/// "0+4x1[2] 1x1[3]": for each box its start and loops in a column, count x step.
std::string str(const Boxes& boxes, Column column);

}  // namespace oriel::shards
