// The canonical form of a single view, and its blocks. The blocks are a complete invariant of the view's map; merging
// and reshaping are built on them.
#pragma once

#include "oriel/view.hpp"
#include "view/plain.hpp"

namespace oriel::detail {

/// The canonical view of a shape without indices (an extent is 0): strides 0, offset 0, no mask.
View extentless_view(const Shape& shape);
/// The canonical view of `shape` that is invalid everywhere. Precondition: no extent is 0, and rank >= 1, because a
/// mask without axes cannot exclude the only index.
View invalid_view(const Shape& shape);

/// @{
/// Whether an extent is 0; whether some range of the mask is empty, so that no index is valid. Both answer false if a
/// size that depends on data leaves it open.
bool has_zero_extent(const Shape& shape);
bool has_empty_range(const Ranges& mask);
/// @}
/// @{
/// The same of sizes of which the caller knows the kind.
template <Number N>
bool has_zero_extent_as(const Shape& shape) {
  return any_axis<N>(shape.size(), [&](std::size_t d) { return or_false(N(shape[d]) == 0); });
}
template <Number N>
bool has_empty_range_as(const Ranges& mask) {
  return any_axis<N>(mask.size(), [&](std::size_t d) { return or_false(N(mask[d].hi) <= N(mask[d].lo)); });
}
/// @}
/// The range of valid positions of axis d; the whole axis if the view has no mask.
inline Range valid_range(const View& view, std::size_t d) {
  return view.mask.empty() ? Range{0, view.shape[d]} : view.mask[d];
}

/// View::canonical, in place.
void canonicalize(View& view);
/// The same for a view of which the caller knows that it is plain (N is Plain), or not (SymInt).
template <Number N>
void canonicalize_as(View& view);

/// A run of axes that together step through the buffer with one stride: `extent` positions, of which [lo, hi) are
/// valid.
template <Number N>
struct BasicBlock {
  N extent;
  N stride;
  N lo;
  N hi;
  bool full() const {
    return all_axes<N>(
        1, [this](std::size_t) { return lo == 0; }, [this](std::size_t) { return hi == extent; });
  }
};

/// A view's axes, joined into blocks from the last axis upwards. Theorem U: two views of equal element count have equal
/// blocks and offset exactly if they are the same partial map of 0 .. numel-1.
template <Number N>
struct BasicBlocks {
  InlineVector<BasicBlock<N>, 8> list;  // innermost first; no block of extent 1
  N offset;
};
using Blocks = BasicBlocks<SymInt>;
using Block = BasicBlock<SymInt>;

/// Fills `blocks` and returns true, or returns false if no index is valid. Throws OverflowError if an offset does not
/// fit. Plain only if the view is.
template <Number N>
bool split_blocks(const View& view, BasicBlocks<N>& blocks);

}  // namespace oriel::detail
