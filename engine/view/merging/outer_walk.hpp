// The outer view of a merge as a walk with positive steps, and the way back from walk coordinates to a view.
#pragma once

#include <concepts>
#include <span>
#include <type_traits>
#include <utility>

#include "view/canonical.hpp"
#include "view/merging/carry.hpp"
#include "view/reshape.hpp"

namespace oriel::detail {

/// The outer view cropped to its mask, with reversed axes turned around: only the axes that move, with positive steps.
/// N is Int for plain views, else SymInt.
template <class N>
struct OuterWalk {
  BasicWalk<N> walk;
  InlineVector<std::size_t, 8> axis;  // the outer view's axis behind each walk axis
  [[no_unique_address]] std::conditional_t<std::same_as<N, SymInt>, Assumptions<SymInt>, Assumptions<Plain>> assumed;
};

template <class N>
OuterWalk<N> walk_of(const View& outer) {
  OuterWalk<N> result;
  result.walk.base = N(outer.offset);
  for (std::size_t d = 0; d < outer.rank(); ++d) {
    const Range range = valid_range(outer, d);
    const N step(outer.strides[d]);
    if (step == 0) continue;
    const N extent = N(range.hi) - N(range.lo);
    const bool upwards = step > 0;
    result.walk.base += step * (upwards ? N(range.lo) : N(range.hi) - 1);
    if constexpr (std::same_as<N, SymInt>) {
      if (is_one(extent, result.assumed)) continue;
    } else {
      if (extent == 1) continue;
    }
    result.walk.step.push_back(upwards ? step : -step);
    result.walk.extent.push_back(extent);
    result.axis.push_back(d);
  }
  return result;
}

/// Converts results from walk coordinates back to the outer view's axes. Plain only if the outer view is.
template <Number N>
class Placement {
 public:
  explicit Placement(const View& outer) : outer_(outer) {
    view_.shape = outer.shape;
    view_.strides.resize(outer.rank());
    view_.mask = outer.mask;
    if (view_.mask.empty()) {
      view_.mask.resize(outer.rank());
      for (std::size_t d = 0; d < outer.rank(); ++d) view_.mask[d] = {0, outer.shape[d]};
    }
  }

  /// Sets axis d: it has this slope and is valid on [lo, hi), both in walk coordinates.
  void place(std::size_t d, N slope, N lo, N hi) {
    const N range_lo = outer_.mask.empty() ? N(0) : N(outer_.mask[d].lo);
    const N range_hi = outer_.mask.empty() ? N(outer_.shape[d]) : N(outer_.mask[d].hi);
    if (N(outer_.strides[d]) > 0) {
      view_.strides[d] = slope;
      view_.mask[d] = {range_lo + lo, range_lo + hi};
      offset_ -= slope * range_lo;
    } else {
      view_.strides[d] = -slope;
      view_.mask[d] = {range_hi - hi, range_hi - lo};
      offset_ += slope * (range_hi - 1);
    }
  }

  MergeResult finish(N offset) {
    view_.offset = offset_ + offset;
    canonicalize_as<N>(view_);
    return {MergeVerdict::Merged, std::move(view_)};
  }

 private:
  const View& outer_;
  View view_;
  N offset_ = 0;
};

/// The result of reading a view through an outer view that is a reshape followed by permute, flip, expand and pad only.
/// `order` holds the walk's axes by descending step.
template <Number B, class N>
MergeResult merge_reshape(const View& outer, const OuterWalk<N>& outer_walk, const BasicBlocks<B>& blocks,
                          std::span<const std::size_t> order) {
  Shape extents(order.size());
  for (std::size_t k = 0; k < order.size(); ++k) {
    if constexpr (std::same_as<N, SymInt>) {
      extents[k] = outer_walk.walk.extent[order[k]];
    } else {
      extents[k] = outer_walk.walk.extent[order[k]].value();
    }
  }
  Ints strides;
  Ranges mask;
  if (!reshape_blocks(blocks, extents, strides, mask)) {
    outer_walk.assumed.refuse();
    return {MergeVerdict::No, {}};
  }
  Placement<B> result(outer);
  for (std::size_t k = 0; k < order.size(); ++k) {
    result.place(outer_walk.axis[order[k]], read<B>(strides[k]), B(mask[k].lo), B(mask[k].hi));
  }
  return result.finish(blocks.offset);
}

/// The result of reading an inner view whose blocks are one affine map of flat indices: the outer view, scaled.
template <Number N>
MergeResult merge_affine(const View& outer, const BasicBlocks<N>& blocks) {
  const N scale = blocks.list.empty() ? N(0) : blocks.list[0].stride;
  View view = outer;
  for (SymInt& stride : view.strides) stride = N(stride) * scale;
  view.offset = blocks.offset + scale * N(outer.offset);
  canonicalize_as<N>(view);
  return {MergeVerdict::Merged, std::move(view)};
}

/// The view that is invalid everywhere. Every shape except () has one.
inline MergeResult merged_invalid(const Shape& shape) {
  if (shape.empty()) return {MergeVerdict::No, {}};
  return {MergeVerdict::Merged, invalid_view(shape)};
}

/// The decision for views of which one has symbolic sizes: by theorems alone, without a search. Records the guards of
/// Merged and No; after Unknown, nothing.
MergeResult merge_symbolic(const View& outer, const View& inner);

}  // namespace oriel::detail
