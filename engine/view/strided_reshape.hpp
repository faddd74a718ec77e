// PyTorch's view(): a layout under another shape without moving an element, or the reason why that cannot be.
#pragma once

#include <optional>
#include <string_view>

#include "oriel/layout.hpp"

namespace oriel::detail {

enum class ReshapeRefusal {
  negative_size,         // an extent below -1
  two_minus_ones,        // more than one extent left open
  ambiguous_minus_one,   // -1 beside an extent of 0, without elements: any number would do
  size_mismatch,         // other element counts
  incompatible_strides,  // only a copy could do it
};
/// "negative_size", ...
std::string_view name(ReshapeRefusal refusal) noexcept;

struct StridedReshape {
  std::optional<ReshapeRefusal> refusal;
  /// The new shape, -1 worked out, and its strides. Those of axes of extent 1 are what PyTorch gives them.
  Layout layout;
  explicit operator bool() const noexcept { return !refusal; }
};

/// `layout` under the shape `wanted`, of which one extent may be -1. Exact where there are elements: refused as
/// incompatible only if no strides over `wanted` list the same positions in row-major order. Without elements the
/// strides are the old ones where the shape stays, and row-major elsewhere. Throws OverflowError where strides pass
/// 2^63-1.
StridedReshape strided_reshape(const Layout& layout, const Shape& wanted);

}  // namespace oriel::detail
