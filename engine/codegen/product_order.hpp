// The order in which contractions add products, decided by numbers alone. Planning compiles it, and it is text of
// rendered sources, which decide it when they run if their sizes are symbolic. The order is part of the result, so
// nothing here depends on the machine or on the number of threads.
#pragma once

#include <cstdint>

namespace oriel::codegen::order {

using Int = std::int64_t;

// snippet ProductOrder:

// The depth that one register block sums at most, chosen so that its panels stay in the first and second cache.
inline constexpr Int kMostDepthBlock = 384;
// If there are few results and the depth is larger than this, the depth is summed in segments, which threads can share.
inline constexpr Int kLongDepth = 8192;
// The least depth of a segment.
inline constexpr Int kLeastSegment = 4096;
// The most segments, times blocks of results.
inline constexpr Int kMostSegments = 64;
// The most partial results: segments times results.
inline constexpr Int kMostPartial = Int{4} << 20;
// The rows and columns of a block of results.
inline constexpr Int kBlockRows = 256;
inline constexpr Int kBlockColumns = 512;
// Bytes of the widest packets.
inline constexpr Int kWidestPacket = 64;
// For a single row, a right factor that has to be gathered pays off from this many columns on.
inline constexpr Int kGatheredColumns = 64;
// With fewer multiplications than this, panels are not packed.
inline constexpr Int kSmallestWork = 4096;

[[maybe_unused]] constexpr Int quotient_up(Int n, Int by) { return (n + by - 1) / by; }
[[maybe_unused]] constexpr Int round_up(Int n, Int to) { return quotient_up(n, to) * to; }

/// Are there so few columns that most lanes of their packets would be idle, and more rows? Then rows and columns change
/// places.
[[maybe_unused]] inline bool exchanges_sides(Int rows, Int columns, Int bytes) {
  return columns * bytes < kWidestPacket && rows > columns;
}
/// Does a product pay for blocks of its own?
[[maybe_unused]] inline bool is_product(Int rows, Int columns, Int depth) {
  const double products = static_cast<double>(rows) * static_cast<double>(columns) * static_cast<double>(depth);
  return depth >= 2 && products >= static_cast<double>(kSmallestWork) && (rows >= 2 || columns >= 2);
}
/// The depths that are summed before the results are added up.
[[maybe_unused]] inline Int depth_block(Int depth) { return quotient_up(depth, quotient_up(depth, kMostDepthBlock)); }
/// The least depth of a segment of a long sum; the whole depth if it is one segment.
[[maybe_unused]] inline Int least_segment(Int batches, Int rows, Int columns, Int depth) {
  if (depth <= kLongDepth) return depth;
  Int segments = kMostSegments / (batches * quotient_up(rows, kBlockRows) * quotient_up(columns, kBlockColumns));
  const Int deep = depth / kLeastSegment, partial = kMostPartial / (batches * rows * columns);
  if (deep < segments) segments = deep;
  if (partial < segments) segments = partial;
  return segments < 2 ? depth : quotient_up(depth, segments);
}

/// The order in which a contraction adds products. `block` is 0 if it is that of every other sum. Otherwise `block`
/// products are added one after the other, then such blocks, and at last segments of them.
struct ProductOrder {
  Int block;
  Int segment;
};
/// What an operand does along a loop: what each step adds to the position, and the steps at which there is an element.
struct Walk {
  Int extent;
  Int step;
  Int lo;
  Int hi;
};
/// A factor's loops: first those that are summed, then the rows (or columns), then the batches.
struct Factor {
  const Walk* loops;
  int summed;
  int own;
  int all;
  bool load;  // is it an element in memory, and nothing else?
};
/// The step if loops [from, to) walk evenly.
[[maybe_unused]] inline bool even_step(const Walk* loops, int from, int to, Int& step) {
  step = 0;
  Int extent = 1;
  for (int d = to; d-- > from;) {
    if (loops[d].extent == 1) continue;
    if (extent == 1) {
      step = loops[d].step;
    } else if (loops[d].step != step * extent) {
      return false;
    }
    extent *= loops[d].extent;
  }
  return true;
}
/// Rows, columns and depth of the product, and its factors, whose loads may be several (`transposed`).
[[maybe_unused]] inline ProductOrder product_order(Int batches, Int rows, Int columns, Int depth, Factor left,
                                                   Factor right, bool left_transposed, bool right_transposed,
                                                   bool windows, Int bytes) {
  if (!windows && exchanges_sides(rows, columns, bytes)) {
    const Int points = rows;
    rows = columns;
    columns = points;
    right = left;
    right_transposed = left_transposed;
  }
  if (!is_product(rows, columns, depth)) return {0, depth};
  if (!windows && rows == 1) {
    Int step = 0;
    Int row = 0;
    bool memory = right.load && even_step(right.loops, 0, right.summed, step) &&
                  even_step(right.loops, right.summed, right.summed + right.own, row);
    for (int d = 0; d < right.all; ++d)
      memory = memory && right.loops[d].lo <= 0 && right.loops[d].hi >= right.loops[d].extent;
    if (memory && step == 1 && row != 1) return {0, depth};
    if (!(memory && row == 1) && (columns < kGatheredColumns || right_transposed)) return {0, depth};
  }
  const Int block = depth_block(depth);
  const Int least = windows ? depth : least_segment(batches, rows, columns, depth);
  return {block, least < depth ? round_up(least, block) : depth};
}

// end of snippets

}  // namespace oriel::codegen::order
