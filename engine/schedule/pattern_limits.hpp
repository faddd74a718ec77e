// What the schedule says of reductions that devices run in a form of their own, and the sizes from which on such a form
// pays.
#pragma once

#include <cstdint>

namespace oriel::schedule {

/// The most bytes of a row that a kernel keeps between stages (codegen/keep.hpp). They share the L2 cache with the
/// row's inputs; compiled kernels hold them on the stack.
inline constexpr std::int64_t kRowBytes = std::int64_t{128} * 1024;

/// What a reduction gathers.
enum class ReductionSource : std::uint8_t {
  Values,
  Product,           // it sums a multiplication of its own dtype; neither factor needs a reduction
  ConvertedProduct,  // the same, but the product is converted or rounded first: no product in blocks runs it
};

/// Which factors of a product change along a loop: both or none, the first one alone, or the second one alone.
enum class AxisRole : std::uint8_t { Batch, Left, Right };

// The windows that run in a form of their own: the schedule decides by these numbers, and lowering where sizes are
// filled in later.
/// Rows shorter than this leave most lanes of a packet idle.
inline constexpr std::int64_t kShortestWindowRow = 4;
/// With more taps than this, a blocked product or rows that fill a tile are faster.
inline constexpr std::int64_t kMostTaps = 256;
/// The largest distance of neighbouring results in the source: their elements are gathered once, lane by lane.
inline constexpr std::int64_t kMostWindowStep = 4;
/// The most distinct elements that windows read, as a part of all that they read.
inline constexpr double kMostDistinctRead = 0.6;

/// Do windows pay that read `read` elements in all, `distinct` of them different? Neighbouring results read elements
/// `step` apart; windows move along `across` axes. Windows of one axis that share nothing are short rows, which plain
/// loops read as fast.
constexpr bool windows_pay(double distinct, double read, std::int64_t step, int across) {
  if (step > kMostWindowStep) return false;
  if (step > 1) return across > 1 ? distinct <= read : distinct < read;
  return distinct <= kMostDistinctRead * read;
}

/// The forms are those of reduction_patterns.hpp. A kernel has one only while it holds no other reduction and no other
/// loops, so kernels are cut where a value would lose its form.
struct PatternLimits {
  /// Products of matrices: the least number of multiplications for one batch, of rows and columns, and of depth.
  std::int64_t product_work = 4096;
  std::int64_t product_side = 2;
  std::int64_t product_depth = 2;
  bool integer_products = true;
  /// Products of a matrix and a vector: the least number of multiplications for one batch; negative: never.
  std::int64_t vector_work = 4096;
  /// Windows: the least number of elements read in all; negative: never.
  std::int64_t window_work = 4096;
};

}  // namespace oriel::schedule
