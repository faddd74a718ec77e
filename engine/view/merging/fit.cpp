// Finds the single view that equals a whole stack by evaluating the stack at every valid index. It is tried if no
// adjacent pair of the stack merges.
#include <algorithm>

#include "oriel/error.hpp"
#include "oriel/inline_vector.hpp"
#include "view/canonical.hpp"
#include "view/merging/simplify.hpp"
#include "view/positions.hpp"

namespace oriel::detail {
namespace {

using Index = InlineVector<std::int64_t, 8>;

/// Steps `index` through the box [from, to) in row-major order; false at its end.
bool advance(Index& index, const Index& from, const Index& to) {
  for (std::size_t d = index.size(); d-- > 0;) {
    if (++index[d] < to[d]) return true;
    index[d] = from[d];
  }
  return false;
}

// A refutation evaluates at most this many points on one line. More would cost as much as the whole walk.
constexpr std::int64_t kLineLength = 64;

/// True if a few lines already prove that no single view equals the stack. In one view, every line along an axis is
/// valid on one interval and has the same slope. This saves most stacks the walk over every index.
bool refuted(std::span<const View> stack, const Index& lo, const Index& hi) {
  const std::size_t rank = lo.size();
  Index middle = lo;
  Index last = lo;
  for (std::size_t d = 0; d < rank; ++d) {
    middle[d] = lo[d] + (hi[d] - lo[d]) / 2;
    last[d] = hi[d] - 1;
  }
  for (std::size_t d = 0; d < rank; ++d) {
    std::optional<std::uint64_t> slope;
    for (const Index& start : {lo, middle, last}) {
      Index index = start;
      std::optional<std::int64_t> before;
      bool ended = false;
      const std::int64_t first = std::max(lo[d], start[d] - kLineLength / 2);
      for (index[d] = first; index[d] < std::min(hi[d], first + kLineLength); ++index[d]) {
        const std::optional<std::int64_t> position = position_of(stack, {index.data(), rank});
        if (position && ended) return true;
        if (position && before) {
          const std::uint64_t step = static_cast<std::uint64_t>(*position) - static_cast<std::uint64_t>(*before);
          if (slope && *slope != step) return true;
          slope = step;
        }
        ended = ended || (before && !position);
        before = position;
      }
    }
  }
  return false;
}

}  // namespace

std::optional<View> fit(std::span<const View> innermost_first) {
  const View& outer = innermost_first.back();
  const std::size_t rank = outer.rank();
  if (has_zero_extent(outer.shape)) return extentless_view(outer.shape);
  Index lo(rank);
  Index hi(rank);
  for (std::size_t d = 0; d < rank; ++d) {
    const Range range = valid_range(outer, d);
    lo[d] = range.lo.value();
    hi[d] = range.hi.value();
  }
  if (!has_empty_range(outer.mask) && refuted(innermost_first, lo, hi)) return std::nullopt;
  // The least box around the valid indices.
  Index first;
  Index last;
  std::int64_t count = 0;
  if (!has_empty_range(outer.mask)) {
    Index index = lo;
    do {
      if (!position_of(innermost_first, {index.data(), rank})) continue;
      if (count++ == 0) first = last = index;
      for (std::size_t d = 0; d < rank; ++d) {
        first[d] = std::min(first[d], index[d]);
        last[d] = std::max(last[d], index[d]);
      }
    } while (advance(index, lo, hi));
  }
  if (count == 0) {
    if (rank == 0) return std::nullopt;
    return invalid_view(outer.shape);
  }
  std::int64_t volume = 1;
  for (std::size_t d = 0; d < rank; ++d) volume *= last[d] - first[d] + 1;
  if (volume != count) return std::nullopt;
  // Measures the slopes at the lowest corner, then compares every point with them.
  View view = extentless_view(outer.shape);
  view.mask.resize(rank);
  try {
    const SymInt origin = *position_of(innermost_first, {first.data(), rank});
    view.offset = origin;
    Index end = last;
    for (std::size_t d = 0; d < rank; ++d) {
      end[d] = last[d] + 1;
      view.mask[d] = {first[d], end[d]};
      if (last[d] == first[d]) continue;
      Index next = first;
      ++next[d];
      view.strides[d] = SymInt(*position_of(innermost_first, {next.data(), rank})) - origin;
      view.offset -= view.strides[d] * first[d];
    }
    Index index = first;
    do {
      if (position_of(innermost_first, {index.data(), rank}) != view.at({index.data(), rank})) return std::nullopt;
    } while (advance(index, first, end));
    position_range(view);
  } catch (const OverflowError&) {
    return std::nullopt;
  }
  canonicalize(view);
  return view;
}

}  // namespace oriel::detail
