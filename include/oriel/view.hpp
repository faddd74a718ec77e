// The view algebra: how an index of a tensor becomes a position in a buffer. It knows no tensor, dtype or device.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "oriel/shape.hpp"

namespace oriel {

/// A masked strided box: index i of `shape` stands for position offset + sum of i[d] * strides[d], or for nothing
/// ("invalid": reads as zero) where i lies outside the mask. Strides are signed; 0 repeats. A mask is a box with one
/// range an axis; an empty list means that every index is valid.
///
/// Values are immutable in spirit: every operation returns a new view. Each operation states its postcondition on
/// `at`, where i ranges over the indices of the result. Thread safety: const access from any thread.
struct View {
  Shape shape;
  Ints strides;
  SymInt offset = 0;
  Ranges mask;  // empty: no mask

  /// Row-major over 0 .. numel-1: contiguous(s).at(i) == ravel(i, s). Throws ShapeError for a negative extent.
  static View contiguous(const Shape& shape);
  /// Checks that the parts fit together (one stride and, if any, one mask range an axis; no negative extents;
  /// 0 <= lo <= hi <= extent in the mask). Throws ShapeError.
  static View make(Shape shape, Ints strides, SymInt offset = 0, Ranges mask = {});

  std::size_t rank() const noexcept { return shape.size(); }
  SymInt numel() const { return oriel::numel(shape); }
  bool masked() const noexcept { return !mask.empty(); }

  /// Position of index i (one entry an axis, each in range), or nothing where i is invalid.
  std::optional<std::int64_t> at(std::span<const std::int64_t> i) const;

  // The movements. `operation` errors are ShapeErrors naming the shape and what would be accepted.

  /// at'(i) = at(j), j[order[d]] = i[d]. `order` is a permutation of the axes.
  View permute(const Ints& order) const;
  /// at'(i) = at(j), j[d] = i[d] where the extents agree and 0 where an axis of extent 1 grew.
  View expand(const Shape& target) const;
  /// at'(i) = at(i + lo). Each range lies inside its axis.
  View shrink(const Ranges& ranges) const;
  /// at'(i) = at(i - before) where that lies in the shape, invalid elsewhere; ranges[d] = {before, after}, both >= 0.
  View pad(const Ranges& before_after) const;
  /// at'(i) = at(j), j[d] = shape[d]-1-i[d] on the named axes.
  View flip(const Ints& axes) const;
  /// at'(i) = at(unravel(ravel(i, target), shape)) as one view, or nothing where no single view says it.
  /// Complete: nothing is returned only if there is none (PROOF.md, Theorem R and its masked form), or if its
  /// arithmetic passes 64 bits. Throws ShapeError where the element counts differ.
  std::optional<View> reshape(const Shape& target) const;

  /// The one form of all views with the same `at` on this shape: strides of size-1 axes are 0, a mask that covers
  /// everything is absent, an axis with one valid position has stride 0 and its step in the offset, and a view with
  /// nothing valid is (strides 0, offset 0, mask [0,0) everywhere). Views of extent 0 have strides 0, offset 0, no
  /// mask.
  View canonical() const;
  /// True iff at(i) == ravel(i, shape) for every index.
  bool is_contiguous() const;

  /// One short line: "(2,3):(3,1)", "+5" for an offset, "[0:2,1:3)" for a mask.
  std::string str() const;

  friend bool operator==(const View& a, const View& b) {
    return a.shape == b.shape && a.strides == b.strides && a.offset == b.offset && a.mask == b.mask;
  }
};

/// A hash of the view as it stands; equal for equal canonical views.
std::size_t hash_value(const View& view) noexcept;

/// How a merge ended. No means "no single view exists" and is exact, like Merged; Unknown means "not decided"
/// (arithmetic overflow or a search beyond the budget), and keeps the stack.
enum class MergeVerdict { Merged, No, Unknown };
struct MergeResult {
  MergeVerdict verdict = MergeVerdict::Unknown;
  View view;  // meaningful when Merged; canonical
};
/// outer over inner as one view: at'(i) = inner.at(unravel(outer.at(i), inner.shape)), invalid where either is.
/// Precondition: outer's positions lie in [0, numel(inner)) wherever it is valid.
MergeResult merge(const View& outer, const View& inner);

/// How the axes of a stack have to be split for it to be one view: axis d into `pieces[d]`, row-major, their product
/// its extent; an axis that stays whole has one piece. `view` is the stack on the split shape, canonical.
struct Refinement {
  std::vector<Ints> pieces;
  View view;
};

class ShapeTracker;
namespace detail {
/// The stack as it stands, for views that the engine composed itself: only positions that the outermost view reaches
/// have to lie inside the view below; others may lie anywhere.
ShapeTracker trusted_stack(std::span<const View> innermost_first);
}  // namespace detail

/// A stack of views over a buffer. What the outermost yields is unravelled row-major by the shape of the one below,
/// down to the buffer. Movements apply to the outermost view; a reshape that one view cannot say adds a view.
class ShapeTracker {
 public:
  /// Contiguous over a buffer of that shape.
  explicit ShapeTracker(const Shape& shape);
  explicit ShapeTracker(View view);
  /// Innermost first; at least one; each view's positions inside the next inner one's element count (checked:
  /// ShapeError).
  static ShapeTracker from_views(std::span<const View> innermost_first);

  const Shape& shape() const noexcept { return views_.back().shape; }
  /// Innermost first.
  std::span<const View> views() const noexcept { return {views_.data(), views_.size()}; }
  bool single() const noexcept { return views_.size() == 1; }

  ShapeTracker reshape(const Shape& target) const;
  ShapeTracker permute(const Ints& order) const;
  ShapeTracker expand(const Shape& target) const;
  ShapeTracker shrink(const Ranges& ranges) const;
  ShapeTracker pad(const Ranges& before_after) const;
  ShapeTracker flip(const Ints& axes) const;

  /// This tracker read through a raw view: at'(i) = at(unravel(outer.at(i), shape())). The view lies on top, merged
  /// into the outermost one where one view says both. Throws ShapeError where its positions leave 0 .. numel-1.
  ShapeTracker view(const View& outer) const;
  /// This tracker over another one: at'(i) = inner.at(unravel(at(i), inner.shape())). `inner` goes below.
  ShapeTracker over(const ShapeTracker& inner) const;
  ShapeTracker over(const View& inner) const;

  /// The same map with as few views as are found: views are merged wherever one says two or more, and three or more
  /// become two where these say the same. Exact for two views, but for an Unknown merge. Views come out canonical.
  ShapeTracker simplify() const;
  /// simplify, and then one form of all stacks with this map on this shape, as far as it goes. Complete where the map
  /// is one view, or is one view read through a reshape, which includes all that refine: the form is then
  /// contiguous(shape) over the view's blocks. Best effort for other stacks: equal forms are equal maps, but equal maps
  /// may keep different forms.
  ShapeTracker canonical() const;
  /// The split of the axes into the fewest pieces under which the stack is one view, or nothing where no split makes it
  /// one; a stack that is one view returns itself. Any split that works only cuts these pieces further (PROOF.md,
  /// Theorem D). A refinement is always right. Nothing is exact for two views whose outermost mask can be written on
  /// the pieces, unless a merge is Unknown, and for any stack whose outermost view has at most 2^14 valid indices;
  /// beyond that it rests on what pairs merge to. Cost: for each axis and piece some lookups, and merges logarithmic in
  /// the extent.
  std::optional<Refinement> refine() const;
  /// True iff at(i) == ravel(i, shape) everywhere: exact where the stack simplifies to one view or to two (the identity
  /// is one view, so a pair that is the identity merges), else by walking the table up to 10^7 entries; false beyond.
  bool is_contiguous() const;

  std::optional<std::int64_t> at(std::span<const std::int64_t> i) const;
  /// Positions in row-major order of the shape, -1 where invalid. Throws ArgumentError beyond `limit` entries.
  std::vector<std::int64_t> table(std::int64_t limit = 10'000'000) const;

  /// The index expression over variables i0, i1, ... , e.g. "i0*3 + i1"; and the condition under which it is valid ("1"
  /// when always). C syntax; all quotients and remainders are of non-negative numbers.
  std::string index_expression() const;
  std::string valid_expression() const;

  /// The views' lines, outermost first, joined by " over ".
  std::string str() const;

  friend bool operator==(const ShapeTracker& a, const ShapeTracker& b) { return a.views_ == b.views_; }

 private:
  friend ShapeTracker detail::trusted_stack(std::span<const View> innermost_first);
  ShapeTracker() = default;
  /// The same stack with another outermost view.
  ShapeTracker with_top(View top) const;

  InlineVector<View, 1> views_;  // innermost first, never empty
};

std::size_t hash_value(const ShapeTracker& tracker) noexcept;

}  // namespace oriel
