// PyTorch's view(): the layout of another shape over the same elements, or the reason why there is none.
#pragma once

#include <optional>
#include <string_view>
#include <type_traits>

#include "oriel/layout.hpp"
#include "sym/decide.hpp"

namespace oriel::detail {

enum class ReshapeRefusal {
  negative_size,         // an extent below -1
  two_minus_ones,        // more than one extent is -1
  ambiguous_minus_one,   // -1 beside an extent of 0: any number would fit
  size_mismatch,         // the element counts differ
  incompatible_strides,  // only a copy could have the shape
};
/// "negative_size", ...
std::string_view name(ReshapeRefusal refusal) noexcept;

/// A shape of which one extent may be -1, to be computed: which one that is, or the first mistake from the left.
struct OpenExtent {
  std::optional<std::size_t> axis;
  std::optional<ReshapeRefusal> refusal;  // negative_size or two_minus_ones
};
template <class N = SymInt>
OpenExtent open_extent(const Shape& shape) {
  OpenExtent open;
  for (std::size_t d = 0; d < shape.size() && !open.refusal; ++d) {
    const N n(shape[d]);
    if constexpr (std::is_same_v<N, SymInt>)
      if (!identical(n, -1) && sym::state_size(n)) continue;
    if (n >= 0) continue;
    if (n != -1)
      open.refusal = ReshapeRefusal::negative_size;
    else if (open.axis)
      open.refusal = ReshapeRefusal::two_minus_ones;
    open.axis = d;
  }
  return open;
}

struct StridedReshape {
  std::optional<ReshapeRefusal> refusal;
  /// The new shape, with -1 replaced, and its strides. Axes of extent 1 have the strides that PyTorch gives them.
  Layout layout;
  explicit operator bool() const noexcept { return !refusal; }
};

/// `layout` reshaped to `wanted`, of which one extent may be -1. Exact for layouts with elements: the result is
/// incompatible_strides only if no strides over `wanted` give the same positions in row-major order. For a layout
/// without elements the strides stay if the shape stays, and are row-major otherwise. Throws OverflowError if a stride
/// exceeds 2^63-1.
StridedReshape strided_reshape(const Layout& layout, const Shape& wanted);
/// The same if some size or stride is a symbol. The sizes and strides of the result may be expressions.
StridedReshape symbolic_reshape(const Layout& layout, const Shape& wanted);

}  // namespace oriel::detail
