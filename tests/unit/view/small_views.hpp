// All small views of a few shapes: strided, broadcast, flipped and masked.
#pragma once

#include <vector>

#include "oriel/view.hpp"

namespace small_views {

inline const std::vector<oriel::Shape>& shapes() {
  static const std::vector<oriel::Shape> all{{},        {0},       {1},       {2},       {3},      {4},
                                             {1, 1},    {1, 3},    {2, 2},    {3, 2},    {2, 0},   {4, 3},
                                             {1, 2, 2}, {2, 1, 3}, {2, 3, 2}, {2, 2, 2}, {3, 1, 1}};
  return all;
}

#ifdef __SANITIZE_ADDRESS__
inline constexpr std::int64_t kStrides[] = {-2, 0, 3};  // instrumented code takes ten times as long
#else
inline constexpr std::int64_t kStrides[] = {-2, 0, 1, 3};
#endif

/// Every view of `shape` with strides from a small set, one offset, and masks from a small set on every axis.
inline std::vector<oriel::View> views(const oriel::Shape& shape) {
  std::vector<oriel::View> all{oriel::View{{}, {}, 2, {}}};
  for (const oriel::SymInt extent : shape) {
    const std::int64_t n = extent.value();
    std::vector<oriel::Range> ranges{{0, n}};
    if (n >= 1) ranges.push_back({n - 1, n});
    if (n >= 2) ranges.push_back({0, n - 1});
    if (n >= 3) ranges.push_back({1, n});
    if (n == 3) ranges.push_back({1, 1});
    std::vector<oriel::View> longer;
    for (const oriel::View& view : all) {
      for (const std::int64_t stride : kStrides) {
        for (const oriel::Range& range : ranges) {
          oriel::View next = view;
          next.shape.push_back(n);
          next.strides.push_back(stride);
          next.mask.push_back(range);
          longer.push_back(std::move(next));
        }
      }
    }
    all = std::move(longer);
  }
  // Also views without a list of masks, which must mean the same as full ranges.
  const std::size_t count = all.size();
  for (std::size_t k = 0; k < count; ++k) {
    bool full = true;
    for (std::size_t d = 0; d < shape.size(); ++d) full = full && all[k].mask[d] == oriel::Range{0, shape[d]};
    if (!full || shape.empty()) continue;
    all.push_back(all[k]);
    all.back().mask.clear();
  }
  return all;
}

}  // namespace small_views
