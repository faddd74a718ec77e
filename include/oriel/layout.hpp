// Layouts: shape and strides as they are, which is what questions about memory formats are asked of.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "oriel/shape.hpp"

namespace oriel {

/// In which order the axes of a tensor lie in memory, as in PyTorch. The channels are axis 1.
enum class MemoryFormat : std::uint8_t {
  contiguous,        ///< row-major: the last axis varies fastest
  channels_last,     ///< rank 4 (N, C, H, W): C varies fastest, then W, H, N
  channels_last_3d,  ///< rank 5 (N, C, D, H, W): C varies fastest, then W, H, D, N
  preserve,          ///< as the operand lies
};
/// "contiguous", "channels_last", ...
std::string_view name(MemoryFormat format) noexcept;

/// Shape and strides, in elements and as they are: the strides of axes of extent 1 or 0 are kept, though no element's
/// position depends on them, because a program can see them. (View::canonical drops them: it serves merging, equality
/// and hashing.) The predicates answer as PyTorch does for a tensor of this shape and these strides. PyTorch has no
/// negative strides; to the predicates they are strides like any other, so none of them holds for an axis of two or
/// more elements that runs backwards.
///
/// Thread safety: const access from any thread.
struct Layout {
  Shape shape;
  Ints strides;

  /// Row-major; axes of extent 0 count as 1. Throws ShapeError for a negative extent.
  static Layout contiguous(const Shape& shape);
  /// The strides that PyTorch gives a new tensor of that format: an axis of extent 0 makes those of the axes after it
  /// in memory 0. Throws ShapeError where the rank is not the format's, and ArgumentError for preserve, which names no
  /// order without an operand.
  static Layout of(const Shape& shape, MemoryFormat format);
  /// Throws ShapeError unless there is one stride an axis and no extent is negative.
  static Layout make(Shape shape, Ints strides);

  std::size_t rank() const noexcept { return shape.size(); }
  SymInt numel() const { return oriel::numel(shape); }

  /// The elements lie in the format's order without gaps: every axis of an extent other than 1 has the product of the
  /// extents before it as its stride. A layout without elements is contiguous whatever its strides; for the
  /// channels-last formats an extent of 0 excuses no stride. False where the rank is not the format's. Throws
  /// ArgumentError for preserve.
  ///   Layout{{2, 3, 4, 5}, {60, 1, 15, 3}}.is_contiguous(MemoryFormat::channels_last);  // true
  bool is_contiguous(MemoryFormat format = MemoryFormat::contiguous) const;
  /// No two indices share a position and the positions leave no gap: contiguous in one of the formats, or in the order
  /// of the strides, axes of extent 0 and 1 last.
  bool is_non_overlapping_and_dense() const;
  /// The order of the strides is that of the format, gaps allowed. False where it could be contiguous as well: for an
  /// axis of channels with stride 0, for extents of 0, and for N111 where all strides agree.
  bool is_like(MemoryFormat format) const;
  /// Both contiguous and channels-last, so that its strides do not tell which was meant: one channel, or one pixel.
  bool is_ambiguous() const;
  /// The format that results should have: channels_last or channels_last_3d where the layout is like it, else
  /// contiguous. With `exact`, every stride must be that of a new tensor of the format, those of extent 1 too.
  MemoryFormat suggest_memory_format(bool exact = false) const;

  /// What a new tensor "like" this one has (preserve): these strides where they are non-overlapping and dense, else
  /// dense strides in the same order. Throws OverflowError.
  Layout preserved() const;
  /// How many elements the memory below must hold: 1 + the highest position less the lowest; 0 without elements. Throws
  /// OverflowError.
  SymInt span() const;

  /// "(2,3):(3,1)".
  std::string str() const;

  friend bool operator==(const Layout& a, const Layout& b) { return a.shape == b.shape && a.strides == b.strides; }
};

}  // namespace oriel
