#include "view/canonical.hpp"

#include <algorithm>

#include "oriel/error.hpp"

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

bool is_symbolic(const Ints& sizes) noexcept {
  return std::ranges::any_of(sizes, [](SymInt size) { return size.is_symbolic(); });
}

bool is_symbolic(const View& view) noexcept {
  if (is_plain(view)) return false;
  return is_symbolic(view.shape) || is_symbolic(view.strides) || view.offset.is_symbolic() ||
         std::ranges::any_of(view.mask,
                             [](const Range& range) { return range.lo.is_symbolic() || range.hi.is_symbolic(); });
}

bool has_zero_extent(const Shape& shape) {
  return is_plain(shape) ? has_zero_extent_as<Plain>(shape) : has_zero_extent_as<SymInt>(shape);
}

bool has_empty_range(const Ranges& mask) {
  return is_plain(mask) ? has_empty_range_as<Plain>(mask) : has_empty_range_as<SymInt>(mask);
}

template <Number N>
void canonicalize_as(View& view) {
  if (has_zero_extent_as<N>(view.shape)) {
    view = extentless_view(view.shape);
    return;
  }
  const std::size_t rank = view.shape.size();
  if (view.mask.empty()) {
    for (std::size_t d = 0; d < rank; ++d) {
      // A stride that is 0 stays 0: whether the extent is 1 need not be asked.
      if (std::same_as<N, SymInt> && identical(view.strides[d], 0)) continue;
      if (or_false(N(view.shape[d]) == 1)) view.strides[d] = 0;
    }
    return;
  }
  if (has_empty_range_as<N>(view.mask)) {
    view = invalid_view(view.shape);
    return;
  }
  for (std::size_t d = 0; d < rank; ++d) {
    if (identical(view.strides[d], 0) || !or_false(N(view.mask[d].hi) - N(view.mask[d].lo) == 1)) continue;
    view.offset += view.strides[d] * view.mask[d].lo;  // either may be beyond what Plain reads
    view.strides[d] = 0;
  }
  const bool full = all_axes<N>(
      rank, [&](std::size_t d) { return N(view.mask[d].lo) == 0; },
      [&](std::size_t d) { return N(view.mask[d].hi) == N(view.shape[d]); });
  if (full) view.mask.clear();
}

template void canonicalize_as<Plain>(View& view);
template void canonicalize_as<SymInt>(View& view);

void canonicalize(View& view) { is_plain(view) ? canonicalize_as<Plain>(view) : canonicalize_as<SymInt>(view); }

namespace {

/// True if one step along the outer axis equals a walk through the whole inner block. A product that overflows equals
/// no stride.
bool continues(Plain outer_stride, const BasicBlock<Plain>& inner) {
  std::int64_t walked = 0;
  return inner.full() && !__builtin_mul_overflow(inner.extent.value(), inner.stride.value(), &walked) &&
         outer_stride == walked;
}

bool continues(SymInt outer_stride, const Block& inner) {
  try {
    const SymInt walked = inner.extent * inner.stride;
    const SymBool conditions[] = {inner.lo == 0, inner.hi == inner.extent, outer_stride == walked};
    return sym::all_of(conditions);
  } catch (const OverflowError&) {
    return false;
  }
}

}  // namespace

template <Number N>
bool split_blocks(const View& view, BasicBlocks<N>& blocks) {
  if (has_zero_extent_as<N>(view.shape) || has_empty_range_as<N>(view.mask)) return false;
  auto& list = blocks.list;
  list.clear();
  blocks.offset = N(view.offset);
  for (std::size_t d = view.shape.size(); d-- > 0;) {
    const N extent(view.shape[d]);
    if (or_false(extent == 1)) continue;
    const bool masked = !view.mask.empty();
    const BasicBlock<N> axis{extent, N(view.strides[d]), masked ? N(view.mask[d].lo) : N(0),
                             masked ? N(view.mask[d].hi) : extent};
    const bool one_position = or_false(axis.hi - axis.lo == 1);
    if (list.empty()) {
      list.push_back(axis);
      if (one_position) {
        blocks.offset += axis.stride * axis.lo;
        list.back().stride = 0;
      }
      continue;
    }
    BasicBlock<N>& below = list.back();
    if (one_position) {
      // The stride of an axis with one valid position is free: choose the one that continues the block below.
      if (!is_zero(axis.lo)) blocks.offset += (axis.stride - below.extent * below.stride) * axis.lo;
      below = {axis.extent * below.extent, below.stride, axis.lo * below.extent + below.lo,
               axis.lo * below.extent + below.hi};
    } else if (continues(axis.stride, below)) {
      below = {axis.extent * below.extent, below.stride, axis.lo * below.extent, axis.hi * below.extent};
    } else {
      list.push_back(axis);
    }
  }
  return true;
}

template bool split_blocks(const View& view, BasicBlocks<Plain>& blocks);
template bool split_blocks(const View& view, BasicBlocks<SymInt>& blocks);

}  // namespace oriel::detail
