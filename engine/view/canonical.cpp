#include "view/canonical.hpp"

namespace oriel::detail {

View extentless_view(const Shape& shape) {
  View view;
  view.shape = shape;
  view.strides.resize(shape.size());
  return view;
}

View invalid_view(const Shape& shape) {
  View view = extentless_view(shape);
  view.mask.resize(shape.size());
  return view;
}

bool has_zero_extent(const Shape& shape) noexcept {
  for (const SymInt extent : shape) {
    if (extent == 0) return true;
  }
  return false;
}

bool has_empty_range(const Ranges& mask) noexcept {
  for (const Range& range : mask) {
    if (range.hi <= range.lo) return true;
  }
  return false;
}

void canonicalize(View& view) {
  if (has_zero_extent(view.shape)) {
    view = extentless_view(view.shape);
    return;
  }
  if (view.mask.empty()) {
    for (std::size_t d = 0; d < view.shape.size(); ++d) {
      if (view.shape[d] == 1) view.strides[d] = 0;
    }
    return;
  }
  if (has_empty_range(view.mask)) {
    view = invalid_view(view.shape);
    return;
  }
  bool full = true;
  for (std::size_t d = 0; d < view.shape.size(); ++d) {
    const Range range = view.mask[d];
    if (range.extent() == 1 && view.strides[d] != 0) {
      view.offset += view.strides[d] * range.lo;
      view.strides[d] = 0;
    }
    full = full && range.lo == 0 && range.hi == view.shape[d];
  }
  if (full) view.mask.clear();
}

namespace {

/// True if one step along the outer axis equals a walk through the whole inner block. A product that overflows equals
/// no stride.
bool continues(SymInt outer_stride, const Block& inner) {
  std::int64_t walked = 0;
  return !__builtin_mul_overflow(inner.extent.value(), inner.stride.value(), &walked) && outer_stride == walked;
}

}  // namespace

bool split_blocks(const View& view, Blocks& blocks) {
  if (has_zero_extent(view.shape) || has_empty_range(view.mask)) return false;
  BlockList& list = blocks.list;
  list.clear();
  blocks.offset = view.offset;
  for (std::size_t d = view.shape.size(); d-- > 0;) {
    const Range range = valid_range(view, d);
    const Block axis{view.shape[d], view.strides[d], range.lo, range.hi};
    if (axis.extent == 1) continue;
    const bool one_position = axis.hi - axis.lo == 1;
    if (list.empty()) {
      list.push_back(axis);
      if (one_position) {
        blocks.offset += axis.stride * axis.lo;
        list.back().stride = 0;
      }
      continue;
    }
    Block& below = list.back();
    if (one_position) {
      // The stride of an axis with one valid position is free: choose the one that continues the block below.
      if (axis.lo != 0) blocks.offset += (axis.stride - below.extent * below.stride) * axis.lo;
      below = {axis.extent * below.extent, below.stride, axis.lo * below.extent + below.lo,
               axis.lo * below.extent + below.hi};
    } else if (below.full() && continues(axis.stride, below)) {
      below = {axis.extent * below.extent, below.stride, axis.lo * below.extent, axis.hi * below.extent};
    } else {
      list.push_back(axis);
    }
  }
  return true;
}

}  // namespace oriel::detail
