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

/// View::canonical, in place. On symbols an axis keeps its stride unless its extent is known to be 1, and a shape is
/// taken to have indices if it has for the hints. No position changes, so no guard is needed. With values put in, the
/// view may need canonicalize() again. operator== compares accordingly.
void canonicalize(View& view);
/// The same for a view of which the caller knows that it is plain (N is Plain), or not (SymInt).
template <Number N>
void canonicalize_as(View& view);

/// What a walk over symbolic axes took for granted because of the hints, without a guard. A view found under these
/// assumptions is right for all values, so only a refusal rests on them: refuse() records them. Empty for plain
/// numbers.
template <Number N>
struct Assumptions {
  void refuse() const noexcept {}
  void refuse(std::size_t) const noexcept {}
  void end_block() const noexcept {}
};
template <>
struct Assumptions<SymInt> {
  sym::Conditions conditions;
  InlineVector<std::size_t, 8> ends;  // of each block but the last: how many conditions fix it and the next one's start
  void refuse() const;
  /// Records what fixes the blocks up to this one.
  void refuse(std::size_t block) const;
  void end_block() { ends.push_back(conditions.size()); }
};

/// @{
/// True if n is 1. On symbols the hint chooses: "yes" is known or records a guard, "no" is known or noted in `assumed`.
constexpr bool is_one(Plain n, Assumptions<Plain>&) noexcept { return n == 1; }
bool is_one(SymInt n, Assumptions<SymInt>& assumed);
/// @}
/// @{
/// True if the range is the whole axis; chosen in the same way.
constexpr bool is_full(Plain lo, Plain hi, Plain extent, Assumptions<Plain>&) noexcept {
  return lo == 0 && hi == extent;
}
bool is_full(SymInt lo, SymInt hi, SymInt extent, Assumptions<SymInt>& assumed);
/// @}
/// @{
/// True if target axes of `width` positions fill `extent` positions. On symbols the hints choose: "yes" is known or
/// records a guard, "no" is known or noted, because it rests on the next axes.
constexpr bool fills(Plain width, Plain extent, Assumptions<Plain>&) noexcept { return width == extent; }
bool fills(SymInt width, SymInt extent, Assumptions<SymInt>& assumed);
/// @}
/// @{
/// has_zero_extent_as and has_empty_range_as. On symbols the hints choose, as in is_one: a canonical form, and a view
/// found without a division by an extent, are right for empty shapes too.
inline bool lacks_indices(const Shape& shape, Assumptions<Plain>&) { return has_zero_extent_as<Plain>(shape); }
bool lacks_indices(const Shape& shape, Assumptions<SymInt>& assumed);
inline bool lacks_valid(const Ranges& mask, Assumptions<Plain>&) { return has_empty_range_as<Plain>(mask); }
bool lacks_valid(const Ranges& mask, Assumptions<SymInt>& assumed);
/// @}

/// A run of axes that together step through the buffer with one stride: `extent` positions, of which [lo, hi) are
/// valid.
template <Number N>
struct BasicBlock {
  N extent;
  N stride;
  N lo;
  N hi;
  /// True if all positions are valid. On symbols the hints choose, as in is_one.
  bool full(Assumptions<N>& assumed) const { return is_full(lo, hi, extent, assumed); }
};

/// A view's axes, joined into blocks from the last axis upwards. Theorem U: two views of equal element count have equal
/// blocks and offset exactly if they are the same partial map of 0 .. numel-1.
template <Number N>
struct BasicBlocks {
  InlineVector<BasicBlock<N>, 8> list;  // innermost first; no block of extent 1 (on symbols: for the hints)
  N offset;
  [[no_unique_address]] Assumptions<N> assumed;
};
using Blocks = BasicBlocks<SymInt>;
using Block = BasicBlock<SymInt>;

/// Fills `blocks` and returns true, or returns false if no index is valid. Throws OverflowError if an offset does not
/// fit. Plain only if the view is.
template <Number N>
bool split_blocks(const View& view, BasicBlocks<N>& blocks);

}  // namespace oriel::detail
