// The canonical form of a single view, and its blocks: the complete invariant that merging and reshaping rest on.
#pragma once

#include <boost/container/small_vector.hpp>

#include "oriel/view.hpp"

namespace oriel::detail {

/// The view of `shape` with no index at all: strides 0, offset 0, no mask.
View extentless_view(const Shape& shape);
/// The canonical view of `shape` that is invalid everywhere. Precondition: rank >= 1 and no extent 0, for a mask over
/// no axis cannot say "invalid".
View invalid_view(const Shape& shape);

bool has_zero_extent(const Shape& shape) noexcept;
/// True iff some mask range is empty, so that no index is valid.
bool has_empty_range(const Ranges& mask) noexcept;
/// The range of valid positions of axis d, also where the view has no mask.
inline Range valid_range(const View& view, std::size_t d) {
  return view.mask.empty() ? Range{0, view.shape[d]} : view.mask[d];
}

/// View::canonical, in place.
void canonicalize(View& view);

/// A run of axes that walks the buffer with one stride: `extent` positions, of which [lo, hi) are valid.
struct Block {
  SymInt extent;
  SymInt stride;
  SymInt lo;
  SymInt hi;
  bool full() const { return lo == 0 && hi == extent; }
};
using BlockList = boost::container::small_vector<Block, 8>;

/// Theorem U: joined from the last axis upwards, the blocks and offset are equal for two views of equal element count
/// exactly if the views are the same partial map of 0 .. numel-1.
struct Blocks {
  BlockList list;  // innermost first; no block of extent 1
  SymInt offset;
};

/// Fills `blocks` and returns true, or returns false where no index is valid. Throws OverflowError when an offset does
/// not fit.
bool split_blocks(const View& view, Blocks& blocks);

}  // namespace oriel::detail
