// Layouts: a shape with its exact strides, and predicates about memory formats.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "oriel/api.hpp"
#include "oriel/shape.hpp"

namespace ORIEL_API oriel {

/// The order of a tensor's axes in memory, as in PyTorch. Axis 1 holds the channels.
enum class MemoryFormat : std::uint8_t {
  contiguous,        ///< row-major: the last axis varies fastest
  channels_last,     ///< rank 4 (N, C, H, W): C varies fastest, then W, H, N
  channels_last_3d,  ///< rank 5 (N, C, D, H, W): C varies fastest, then W, H, D, N
  preserve,          ///< the operand's own order
};
/// "contiguous", "channels_last", ...
std::string_view name(MemoryFormat format) noexcept;

/// A shape and strides, in elements. The strides of axes of extent 1 or 0 are kept because a program can see them,
/// though no element's position depends on them. (View::canonical drops them: it serves merging, equality and hashing.)
/// The predicates answer as PyTorch does for a tensor of this shape and these strides. PyTorch has no negative strides.
/// The predicates treat them like any other stride, so no predicate holds if an axis of two or more elements is
/// reversed.
///
/// Thread safety: const access from any thread.
struct Layout {
  Shape shape;   ///< the extents
  Ints strides;  ///< in elements, one per axis

  /// Row-major; axes of extent 0 count as 1. Throws ShapeError for a negative extent.
  static Layout contiguous(const Shape& shape);
  /// The strides that PyTorch gives a new tensor of that format. In the channels-last formats an axis of extent 0 makes
  /// the strides of all slower axes 0; `contiguous` counts its extent as 1. Throws ShapeError if the rank is not the
  /// format's, and ArgumentError for preserve, which means nothing without an operand.
  static Layout of(const Shape& shape, MemoryFormat format);
  /// Throws ShapeError unless there is one stride per axis and no extent is negative.
  static Layout make(Shape shape, Ints strides);

  /// The number of axes.
  std::size_t rank() const noexcept { return shape.size(); }
  /// The number of elements.
  SymInt numel() const { return oriel::numel(shape); }

  /// True if the elements are stored in the format's order without gaps: the stride of every axis, except those of
  /// extent 1, is the product of the extents of the faster axes. A layout without elements is `contiguous` whatever its
  /// strides; the channels-last formats check the strides even then. False if the rank is not the format's. Throws
  /// ArgumentError for preserve.
  ///   Layout{{2, 3, 4, 5}, {60, 1, 15, 3}}.is_contiguous(MemoryFormat::channels_last);  // true
  bool is_contiguous(MemoryFormat format = MemoryFormat::contiguous) const;
  /// True if no two indices share a position and the positions leave no gap: the layout is contiguous in one of the
  /// formats, or in the order of its strides, with axes of extent 0 and 1 last.
  bool is_non_overlapping_and_dense() const;
  /// True if the order of the strides is that of the format; gaps are allowed. False if the strides could be contiguous
  /// as well: if the channel axis has stride 0, if an extent is 0, and for shape (N, 1, 1, 1) with equal strides.
  bool is_like(MemoryFormat format) const;
  /// True if the layout is both contiguous and channels-last, so that its strides do not show which was meant. This
  /// happens with one channel or one pixel.
  bool is_ambiguous() const;
  /// The format that results should have: channels_last or channels_last_3d if is_like() holds for it, else contiguous.
  /// With `exact`, every stride must equal that of a new tensor of the format, even along axes of extent 1.
  MemoryFormat suggest_memory_format(bool exact = false) const;

  /// The layout of a new tensor "like" this one (preserve): these strides if they are non-overlapping and dense, else
  /// dense strides in the same order. Throws OverflowError.
  Layout preserved() const;
  /// The number of elements that the memory must hold: the highest position minus the lowest, plus 1; 0 for a layout
  /// without elements. Throws OverflowError.
  SymInt span() const;

  /// "(2,3):(3,1)".
  std::string str() const;

  /// Are shapes and strides equal?
  friend bool operator==(const Layout& a, const Layout& b) { return a.shape == b.shape && a.strides == b.strides; }
};

}  // namespace oriel
