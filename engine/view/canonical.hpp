// The canonical form of a single view, and its blocks. The blocks are a complete invariant of the view's map; merging
// and reshaping are built on them.
#pragma once

#include <boost/container/small_vector.hpp>

#include "oriel/view.hpp"

namespace oriel::detail {

/// The canonical view of a shape without indices (an extent is 0): strides 0, offset 0, no mask.
View extentless_view(const Shape& shape);
/// The canonical view of `shape` that is invalid everywhere. Precondition: no extent is 0, and rank >= 1, because a
/// mask without axes cannot exclude the only index.
View invalid_view(const Shape& shape);

bool has_zero_extent(const Shape& shape) noexcept;
/// True if some range of the mask is empty, so that no index is valid.
bool has_empty_range(const Ranges& mask) noexcept;
/// The range of valid positions of axis d; the whole axis if the view has no mask.
inline Range valid_range(const View& view, std::size_t d) {
  return view.mask.empty() ? Range{0, view.shape[d]} : view.mask[d];
}

/// View::canonical, in place.
void canonicalize(View& view);

/// A run of axes that together step through the buffer with one stride: `extent` positions, of which [lo, hi) are
/// valid.
struct Block {
  SymInt extent;
  SymInt stride;
  SymInt lo;
  SymInt hi;
  bool full() const { return lo == 0 && hi == extent; }
};
using BlockList = boost::container::small_vector<Block, 8>;

/// A view's axes, joined into blocks from the last axis upwards. Theorem U: two views of equal element count have equal
/// blocks and offset exactly if they are the same partial map of 0 .. numel-1.
struct Blocks {
  BlockList list;  // innermost first; no block of extent 1
  SymInt offset;
};

/// Fills `blocks` and returns true, or returns false if no index is valid. Throws OverflowError if an offset does not
/// fit.
bool split_blocks(const View& view, Blocks& blocks);

}  // namespace oriel::detail
