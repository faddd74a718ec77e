// The view algebra: how an index of a tensor becomes a position in a buffer. It is independent of tensors, dtypes and
// devices.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "oriel/api.hpp"
#include "oriel/shape.hpp"

namespace ORIEL_API oriel {

/// A masked strided box. Index i of `shape` maps to position offset + sum of i[d] * strides[d]. If i lies outside the
/// mask, it is "invalid": it has no position and reads as zero. Strides are signed and count elements; a stride of 0
/// repeats. A mask is a box with one range per axis; an empty list means that every index is valid.
///
/// All sizes may be expressions over the symbols of one ShapeEnv. The operations then decide by the hints and record
/// guards there: for all values of the symbols that satisfy the guards, the result with these values put in is the
/// result for these values. A decision that holds for all values in range records nothing.
///
/// Treat a view as immutable: every operation returns a new one. Each operation states its postcondition on `at`, where
/// at' is the result's and i ranges over the indices of the result. Thread safety: const access from any thread.
struct View {
  Shape shape;        ///< the extents
  Ints strides;       ///< in elements, one per axis
  SymInt offset = 0;  ///< the position of index (0, ..., 0)
  Ranges mask;        ///< the valid indices along each axis; empty: no mask

  /// The row-major view of positions 0 .. numel-1: contiguous(s).at(i) == ravel(i, s). Throws ShapeError for a negative
  /// extent.
  static View contiguous(const Shape& shape);
  /// Makes a view and checks that its parts fit together: one stride per axis, one mask range per axis unless the mask
  /// is empty, no negative extents, and 0 <= lo <= hi <= extent in the mask. Throws ShapeError otherwise.
  static View make(Shape shape, Ints strides, SymInt offset = 0, Ranges mask = {});

  /// The number of axes.
  std::size_t rank() const noexcept { return shape.size(); }
  /// The number of indices.
  SymInt numel() const { return oriel::numel(shape); }
  /// True if the view has a mask.
  bool masked() const noexcept { return !mask.empty(); }

  /// The position of index i (one entry per axis, each in range), or nullopt if i is invalid. Of a symbolic view: the
  /// position for the hints, with a guard that it has no other.
  std::optional<std::int64_t> at(std::span<const std::int64_t> i) const;

  // The movements. Their errors are ShapeErrors that name the shape and what would be accepted.

  /// at'(i) = at(j), j[order[d]] = i[d]. `order` is a permutation of the axes.
  View permute(const Ints& order) const;
  /// at'(i) = at(j), with j[d] = i[d] if the extents of axis d agree, and j[d] = 0 if an axis of extent 1 was expanded.
  View expand(const Shape& target) const;
  /// at'(i) = at(i + lo). Each range must lie inside its axis.
  View shrink(const Ranges& ranges) const;
  /// at'(i) = at(i - before) if that index lies in the shape, else invalid. before_after[d] = {before, after}, both >=
  /// 0.
  View pad(const Ranges& before_after) const;
  /// at'(i) = at(j), with j[d] = shape[d]-1-i[d] on the named axes and j[d] = i[d] on the others.
  View flip(const Ints& axes) const;
  /// at'(i) = at(unravel(ravel(i, target), shape)) as one view, or nullopt if no single view is this map. Complete:
  /// nullopt means that no such view exists (PROOF.md, Theorem R and its masked form) or that the arithmetic exceeds 64
  /// bits. Throws ShapeError if the element counts differ.
  std::optional<View> reshape(const Shape& target) const;

  /// The canonical form: views of the same shape with the same `at` have equal canonical forms. Axes of extent 1 have
  /// stride 0. A mask that covers everything is removed. An axis with one valid position has stride 0; its contribution
  /// is in the offset. A view without valid indices has strides 0, offset 0 and mask [0,0) on every axis. A view
  /// without indices (an extent is 0) has strides 0, offset 0 and no mask.
  View canonical() const;
  /// True iff at(i) == ravel(i, shape) for every index.
  bool is_contiguous() const;

  /// One short line: "(2,3):(3,1)", "+5" for an offset, "[0:2,1:3)" for a mask.
  std::string str() const;

  /// True if all members are equal. Of symbolic views the answer is decided, with guards, unless they are known.
  friend bool operator==(const View& a, const View& b);
};

/// A hash of the view's members. To hash the map, hash the canonical form.
std::size_t hash_value(const View& view) noexcept;

/// The outcome of a merge. Merged and No ("no single view exists") are exact. Unknown means "not decided": the
/// arithmetic overflowed or the search exceeded its budget. The stack is then kept.
enum class MergeVerdict { Merged, No, Unknown };
/// The verdict of a merge, and the merged view.
struct MergeResult {
  MergeVerdict verdict = MergeVerdict::Unknown;  ///< whether one view is equal to both
  View view;                                     ///< meaningful when Merged; canonical
};
/// outer over inner as one view: at'(i) = inner.at(unravel(outer.at(i), inner.shape)), invalid where either view is.
/// Precondition: the positions of outer's valid indices lie in [0, numel(inner)).
/// Symbolic views are decided by theorems alone: where a search would be necessary, the verdict is Unknown and nothing
/// is recorded.
MergeResult merge(const View& outer, const View& inner);

/// A split of a stack's axes under which the stack is one view. Axis d is split into the extents `pieces[d]`,
/// row-major, whose product is the extent of the axis; an axis that stays whole has one piece. `view` is the stack on
/// the split shape, in canonical form.
struct Refinement {
  std::vector<Ints> pieces;  ///< by axis of the stack
  View view;                 ///< over the pieces
};

class ShapeTracker;
namespace detail {
/// A stack without the checks of from_views, for views that the engine composed itself. Only positions that the
/// outermost view reaches must lie inside the views below; the others may lie anywhere.
ShapeTracker trusted_stack(std::span<const View> innermost_first);
}  // namespace detail

/// A stack of views over a buffer. The outermost view maps an index to a position; the position is unravelled
/// (row-major) to an index of the view below, and so on down to the buffer. Movements apply to the outermost view. A
/// reshape that one view cannot express adds a view on top.
class ShapeTracker {
 public:
  /// The contiguous view of a buffer of that shape.
  explicit ShapeTracker(const Shape& shape);
  /// A stack of one view.
  explicit ShapeTracker(View view);
  /// A stack of at least one view, innermost first. Throws ShapeError unless the positions of each view lie inside the
  /// element count of the view below.
  static ShapeTracker from_views(std::span<const View> innermost_first);

  /// The shape of the outermost view.
  const Shape& shape() const noexcept { return views_.back().shape; }
  /// Innermost first.
  std::span<const View> views() const noexcept { return {views_.data(), views_.size()}; }
  /// True if the stack is one view.
  bool single() const noexcept { return views_.size() == 1; }

  /// The movements. Postconditions and errors are those of View, except that reshape always succeeds: it adds a view if
  /// necessary.
  /// @{
  ShapeTracker reshape(const Shape& target) const;
  ShapeTracker permute(const Ints& order) const;
  ShapeTracker expand(const Shape& target) const;
  ShapeTracker shrink(const Ranges& ranges) const;
  ShapeTracker pad(const Ranges& before_after) const;
  ShapeTracker flip(const Ints& axes) const;
  /// @}

  /// This stack read through a raw view: at'(i) = at(unravel(outer.at(i), shape())). The view is put on top, or merged
  /// into the outermost view if one view can express both. Throws ShapeError if a position of `outer` lies outside 0 ..
  /// numel-1.
  ShapeTracker view(const View& outer) const;
  /// This stack on top of another one: at'(i) = inner.at(unravel(at(i), inner.shape())).
  ShapeTracker over(const ShapeTracker& inner) const;
  /// The same over a single view.
  ShapeTracker over(const View& inner) const;

  /// The same map with fewer views. Neighbouring views are merged if one view can express them, and three or more are
  /// replaced by two if these are the same map. For two views the result has the fewest possible, unless a merge is
  /// Unknown. The views are canonical. In a symbolic stack only neighbouring views are merged.
  ShapeTracker simplify() const;
  /// simplify() followed by a normal form for stacks with the same map and shape. Equal forms always mean equal maps.
  /// Equal maps have equal forms if the map is one view, or one view read through a reshape; the latter includes every
  /// stack that refine() splits, and its form is contiguous(shape) over the view's blocks. Other stacks with equal maps
  /// may keep different forms.
  ShapeTracker canonical() const;
  /// The split of the axes into the fewest pieces under which the stack is one view, or nullopt if no split does. A
  /// stack that is one view is returned unsplit. Every other split that works cuts these pieces further (PROOF.md,
  /// Theorem D). A refinement is always correct. nullopt is exact in two cases: for two views whose outermost mask can
  /// be written on the pieces, unless a merge is Unknown; and for any stack whose outermost view has at most 2^14 valid
  /// indices. In other cases it depends on which pairs of views merge. A symbolic stack is split as it is for the
  /// hints, if that is a split for all sizes that satisfy the guards recorded, and nullopt says nothing about it. Cost:
  /// some lookups for each axis and piece, and a number of merges logarithmic in the extent.
  std::optional<Refinement> refine() const;
  /// True if at(i) == ravel(i, shape) for every index. Exact if the stack simplifies to one or two views (the identity
  /// is one view, so a pair that is the identity merges). Other stacks are tested entry by entry if they have at most
  /// 10^7 entries; larger ones give false, and so do symbolic stacks that do not simplify to one view.
  bool is_contiguous() const;

  /// The position of index i in the buffer, or nullopt if i is invalid.
  std::optional<std::int64_t> at(std::span<const std::int64_t> i) const;
  /// The position of each index, in row-major order; -1 for an invalid index. Throws ArgumentError if there are more
  /// than `limit` entries.
  std::vector<std::int64_t> table(std::int64_t limit = 10'000'000) const;

  /// The position as an expression of the index variables i0, i1, ..., e.g. "i0*3 + i1", and the condition under which
  /// the index is valid ("1" if always). Both are in C syntax. All divisions and remainders have non-negative operands.
  /// @{
  std::string index_expression() const;
  std::string valid_expression() const;
  /// @}

  /// The views' str(), outermost first, joined by " over ".
  std::string str() const;

  /// Are the views of both stacks equal?
  friend bool operator==(const ShapeTracker& a, const ShapeTracker& b) { return a.views_ == b.views_; }

 private:
  friend ShapeTracker detail::trusted_stack(std::span<const View> innermost_first);
  ShapeTracker() = default;
  /// This stack with `top` in place of the outermost view.
  ShapeTracker with_top(View top) const;

  InlineVector<View, 1> views_;  // innermost first, never empty
};

std::size_t hash_value(const ShapeTracker& tracker) noexcept;

}  // namespace oriel
