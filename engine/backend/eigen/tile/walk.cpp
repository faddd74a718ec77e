#include "backend/eigen/tile/walk.hpp"

#include <algorithm>

namespace oriel::backend::eigen {

using codegen::AffineMap;

namespace {

// The axes [from, to) of a map without those of extent 1. Returns false if nothing is valid.
bool gather_axes(const AffineMap& map, std::size_t from, std::size_t to, bool join, Axes& axes) {
  for (std::size_t d = from; d < to; ++d) {
    if (map.axes[d].end <= map.axes[d].begin) return false;
    if (join)
      join_axis(axes, map.axes[d]);
    else if (map.axes[d].extent != 1)
      axes.push_back(map.axes[d]);
  }
  return true;
}

Axes joined(const Axes& outer, const Axes& inner) {
  Axes all;
  for (const AccessAxis& axis : outer) join_axis(all, axis);
  for (const AccessAxis& axis : inner) join_axis(all, axis);
  if (all.empty()) all.emplace_back();
  return all;
}

}  // namespace

AccessWalker::AccessWalker(const codegen::Access& access, std::size_t outer, bool columns) {
  const auto maps = access.maps();
  const AffineMap& top = maps.front();
  offset_ = top.offset;
  Axes first;
  Axes second;
  nothing_ = !gather_axes(top, 0, outer, true, first) || !gather_axes(top, outer, top.axes.size(), true, second);
  if (nothing_) {
    masked_ = true;
    return;
  }
  if (first.empty()) first.emplace_back();
  if (second.empty()) second.emplace_back();
  slow_ = columns ? second : first;
  fast_ = columns ? first : second;
  all_ = joined(slow_, fast_);
  joined_ = all_.size() < slow_.size() + fast_.size();
  fast_points_ = 1;
  for (const AccessAxis& axis : fast_) fast_points_ *= axis.extent;
  last_ = 0;
  for (const AccessAxis& axis : all_) {
    first_ = first_ * axis.extent + axis.begin;
    last_ = last_ * axis.extent + axis.end - 1;
  }
  uniform_ = access.affine();
  for (const AccessAxis& axis : all_) {
    masked_ = masked_ || axis.cut();
    uniform_ = uniform_ && axis.coefficient == 0 && !axis.cut();
  }
  for (const AffineMap& map : maps.subspan(1)) {
    Below view;
    view.offset = map.offset;
    if (!gather_axes(map, 0, map.axes.size(), false, view.axes)) {
      nothing_ = masked_ = true;
      return;
    }
    if (view.axes.empty()) view.axes.emplace_back();
    for (const AccessAxis& axis : view.axes) masked_ = masked_ || axis.cut();
    below_.push_back(std::move(view));
  }
  matrix_ = below_.empty() && !masked_ && slow_.size() == 1 && fast_.size() == 1 && fast_[0].coefficient == 1;
  digits_ = Digits::make(access, outer, columns);
  std::vector<std::size_t> slow;
  std::vector<std::size_t> fast;
  for (std::size_t d = 0; d < access.loops(); ++d) ((d < outer) == columns ? fast : slow).push_back(d);
  pattern_ = Pattern::make(access, slow, fast);
  slow.insert(slow.end(), fast.begin(), fast.end());
  flat_pattern_ = Pattern::make(access, {}, slow);
}

bool AccessWalker::misses_columns(const Tile& tile, std::int64_t from) const noexcept {
  const AccessAxis& axis = all_.back();
  const std::int64_t at = from % axis.extent, end = at + tile.size();
  if (end <= axis.extent) return end <= axis.begin || at >= axis.end;
  return at >= axis.end && end - axis.extent <= axis.begin;
}

std::int64_t AccessWalker::find_in_place(const Tile& tile) const noexcept {
  if (nothing_ || !below_.empty()) return -1;
  const auto run_at = [](const Axes& axes, std::int64_t first, std::int64_t n, std::int64_t base) -> std::int64_t {
    const std::size_t last = axes.size() - 1;
    const AccessAxis& fast = axes[last];
    if (fast.coefficient != 1 && n > 1) return -1;
    for (std::size_t d = last;; --d) {
      const std::int64_t at = d == 0 ? first : first % axes[d].extent;
      if (d != 0) first /= axes[d].extent;
      if (d == last ? at < fast.begin || at + n > fast.end : at < axes[d].begin || at >= axes[d].end) return -1;
      base += at * axes[d].coefficient;
      if (d == 0) return base;
    }
  };
  if (tile.cols == fast_points_ && joined_) {
    return run_at(all_, tile.slow * fast_points_ + tile.fast, tile.size(), offset_);
  }
  if (tile.rows != 1) return -1;
  // A single slow point is a run of length one, whatever its stride.
  std::int64_t index = tile.slow;
  std::int64_t base = offset_;
  for (std::size_t d = slow_.size(); d-- > 0;) {
    const std::int64_t at = d == 0 ? index : index % slow_[d].extent;
    if (d != 0) index /= slow_[d].extent;
    if (at < slow_[d].begin || at >= slow_[d].end) return -1;
    base += at * slow_[d].coefficient;
  }
  return run_at(fast_, tile.fast, tile.cols, base);
}

}  // namespace oriel::backend::eigen
