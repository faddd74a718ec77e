// Brute force over index tables, with which the view algebra is compared. It shares no code with the engine.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "oriel/view.hpp"

namespace oracle {

using Index = std::vector<std::int64_t>;
using Position = std::optional<std::int64_t>;

/// All indices of `shape` in row-major order.
inline std::vector<Index> indices(const oriel::Shape& shape) {
  std::vector<Index> all{{}};
  for (const oriel::SymInt extent : shape) {
    std::vector<Index> longer;
    for (const Index& index : all) {
      for (std::int64_t i = 0; i < extent.value(); ++i) {
        longer.push_back(index);
        longer.back().push_back(i);
      }
    }
    all = std::move(longer);
  }
  return all;
}

inline Position evaluate(const oriel::View& view, const Index& index) {
  std::int64_t position = view.offset.value();
  for (std::size_t d = 0; d < index.size(); ++d) {
    if (!view.mask.empty() && (index[d] < view.mask[d].lo.value() || index[d] >= view.mask[d].hi.value())) return {};
    position += index[d] * view.strides[d].value();
  }
  return position;
}

inline Index unravel(std::int64_t n, const oriel::Shape& shape) {
  Index index(shape.size());
  for (std::size_t d = shape.size(); d-- > 0;) {
    index[d] = n % shape[d].value();
    n /= shape[d].value();
  }
  return index;
}

inline std::int64_t ravel(const Index& index, const oriel::Shape& shape) {
  std::int64_t n = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) n = n * shape[d].value() + index[d];
  return n;
}

inline Position evaluate(std::span<const oriel::View> innermost_first, const Index& index) {
  Position position = evaluate(innermost_first.back(), index);
  for (std::size_t k = innermost_first.size() - 1; position && k-- > 0;) {
    position = evaluate(innermost_first[k], unravel(*position, innermost_first[k].shape));
  }
  return position;
}

inline std::vector<Position> table(std::span<const oriel::View> innermost_first) {
  std::vector<Position> positions;
  for (const Index& index : indices(innermost_first.back().shape))
    positions.push_back(evaluate(innermost_first, index));
  return positions;
}
inline std::vector<Position> table(const oriel::View& view) { return table({&view, 1}); }

/// The canonical view of `shape` with this table; nullopt if there is none.
inline std::optional<oriel::View> fit(const oriel::Shape& shape, const std::vector<Position>& positions) {
  const std::size_t rank = shape.size();
  oriel::View view;
  view.shape = shape;
  view.strides.assign(rank, 0);
  const std::vector<Index> all = indices(shape);
  if (all.empty()) return view;
  Index lo;
  Index hi;
  std::size_t count = 0;
  for (std::size_t n = 0; n < all.size(); ++n) {
    if (!positions[n]) continue;
    if (count++ == 0) lo = hi = all[n];
    for (std::size_t d = 0; d < rank; ++d) {
      lo[d] = std::min(lo[d], all[n][d]);
      hi[d] = std::max(hi[d], all[n][d]);
    }
  }
  if (count == 0) {
    if (rank == 0) return std::nullopt;
    view.mask.assign(rank, oriel::Range{0, 0});
    return view;
  }
  std::size_t volume = 1;
  bool full = true;
  for (std::size_t d = 0; d < rank; ++d) {
    volume *= static_cast<std::size_t>(hi[d] - lo[d] + 1);
    full = full && lo[d] == 0 && hi[d] + 1 == shape[d].value();
  }
  if (volume != count) return std::nullopt;
  const auto at = [&](const Index& index) { return *positions[static_cast<std::size_t>(ravel(index, shape))]; };
  view.offset = at(lo);
  for (std::size_t d = 0; d < rank; ++d) {
    if (!full) view.mask.push_back({lo[d], hi[d] + 1});
    if (hi[d] == lo[d]) continue;
    Index next = lo;
    ++next[d];
    view.strides[d] = at(next) - at(lo);
    view.offset -= view.strides[d] * lo[d];
  }
  for (std::size_t n = 0; n < all.size(); ++n) {
    if (evaluate(view, all[n]) != positions[n]) return std::nullopt;
  }
  return view;
}

}  // namespace oracle
