// CuTe's layouts: nested shapes with strides of the same form, and their algebra.
#pragma once

#include <optional>
#include <vector>

#include "oriel/layouts.hpp"

namespace oriel::layouts {

/// A number of indices, and the step from one to the next.
struct Mode {
  SymInt extent;
  SymInt stride;
};

/// A shape, and strides of the same form. Index 0 of the shape's leftmost number is the fastest.
struct CuteLayout {
  IntTuple shape;
  IntTuple stride;

  static CuteLayout of(const Mode& mode);
  /// A list of modes.
  static CuteLayout list(const std::vector<CuteLayout>& modes);
  /// The layout of the modes left when those of one index are dropped and neighbours joined: a number if there is one.
  static CuteLayout coalesced(const std::vector<Mode>& modes);

  std::vector<Mode> modes() const;  ///< the numbers, in order
  std::size_t rank() const { return shape.list ? shape.parts.size() : 1; }
  CuteLayout part(std::size_t k) const;  ///< of the outermost list
  SymInt size() const { return shape.product(); }
  /// One more than the largest position. Throws ArgumentError for a negative stride.
  SymInt cosize() const;
};

/// @{
/// As the members of Map with these names.
CuteLayout complement(const CuteLayout& layout, SymInt bound);
CuteLayout right_inverse(const CuteLayout& layout);
CuteLayout left_inverse(const CuteLayout& layout);
/// @}

/// One view as it stands, with the strides of axes of one index; a stack with the fewest views.
ShapeTracker simplest(const ShapeTracker& tracker);
/// layout o other as the views over the numbers of other's shape: (2,3) has two axes.
ShapeTracker composed(const CuteLayout& layout, const CuteLayout& other);
/// The layout of a stack over the numbers of `shape`; a number becomes a list where its axis has to be split. Nothing
/// if no split makes strides of it, or if it has a mask or an offset.
std::optional<CuteLayout> split_layout(const IntTuple& shape, const ShapeTracker& tracker);
/// layout o other. Throws ArgumentError if it is no layout.
CuteLayout compose(const CuteLayout& layout, const CuteLayout& other);

CuteLayout logical_divide(const CuteLayout& layout, const CuteLayout& tiler);
CuteLayout logical_product(const CuteLayout& layout, const CuteLayout& other);
/// The modes of a logical product in pairs. raked: the other layout's mode first.
CuteLayout paired_product(const CuteLayout& layout, const CuteLayout& other, bool raked);

/// The view over the numbers of the shape.
View view_of(const CuteLayout& layout);

}  // namespace oriel::layouts
