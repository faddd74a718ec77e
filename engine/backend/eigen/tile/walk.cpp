#include "backend/eigen/tile/walk.hpp"

#include <algorithm>

namespace oriel::backend::eigen {

namespace {

// Axes [from, to) of a view without those of extent 1, neighbours joined where one step says both; never empty.
// Returns false where nothing is valid.
bool gather_axes(const View& view, std::size_t from, std::size_t to, bool join, Axes& axes) {
  for (std::size_t d = from; d < to; ++d) {
    Axis axis;
    axis.extent = view.shape[d].value();
    axis.stride = view.strides[d].value();
    axis.hi = axis.extent;
    if (view.masked()) {
      axis.lo = view.mask[d].lo.value();
      axis.hi = view.mask[d].hi.value();
    }
    if (axis.hi <= axis.lo) return false;
    if (axis.extent == 1) continue;
    if (join && !axes.empty() && !axis.masked() && axes.back().stride == axis.stride * axis.extent) {
      Axis& outer = axes.back();
      outer = {outer.extent * axis.extent, axis.stride, outer.lo * axis.extent, outer.hi * axis.extent};
    } else {
      axes.push_back(axis);
    }
  }
  return true;
}

Axes joined(const Axes& outer, const Axes& inner) {
  Axes all;
  for (const Axes* part : {&outer, &inner}) {
    for (const Axis& axis : *part) {
      if (axis.extent == 1) continue;
      if (!all.empty() && !axis.masked() && all.back().stride == axis.stride * axis.extent) {
        Axis& last = all.back();
        last = {last.extent * axis.extent, axis.stride, last.lo * axis.extent, last.hi * axis.extent};
      } else {
        all.push_back(axis);
      }
    }
  }
  if (all.empty()) all.emplace_back();
  return all;
}

}  // namespace

AccessWalker::AccessWalker(const ShapeTracker& tracker, std::size_t outer, bool columns) {
  const auto views = tracker.views();
  const View& top = views.back();
  offset_ = top.offset.value();
  Axes first;
  Axes second;
  nothing_ = !gather_axes(top, 0, outer, true, first) || !gather_axes(top, outer, top.rank(), true, second);
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
  for (const Axis& axis : fast_) fast_points_ *= axis.extent;
  uniform_ = views.size() == 1;
  for (const Axis& axis : all_) {
    masked_ = masked_ || axis.masked();
    uniform_ = uniform_ && axis.stride == 0 && !axis.masked();
  }
  for (std::size_t v = views.size() - 1; v-- > 0;) {
    Below view;
    view.offset = views[v].offset.value();
    if (!gather_axes(views[v], 0, views[v].rank(), false, view.axes)) {
      nothing_ = masked_ = true;
      return;
    }
    if (view.axes.empty()) view.axes.emplace_back();
    for (const Axis& axis : view.axes) masked_ = masked_ || axis.masked();
    below_.push_back(std::move(view));
  }
  matrix_ = below_.empty() && !masked_ && slow_.size() == 1 && fast_.size() == 1 && fast_[0].stride == 1;
  digits_ = Digits::make(tracker, outer, columns);
}

std::int64_t AccessWalker::find_in_place(const Tile& tile) const noexcept {
  if (nothing_ || !below_.empty()) return -1;
  const auto run_at = [](const Axes& axes, std::int64_t first, std::int64_t n, std::int64_t base) -> std::int64_t {
    const std::size_t last = axes.size() - 1;
    const Axis& fast = axes[last];
    if (fast.stride != 1 && n > 1) return -1;
    for (std::size_t d = last;; --d) {
      const std::int64_t at = d == 0 ? first : first % axes[d].extent;
      if (d != 0) first /= axes[d].extent;
      if (d == last ? at < fast.lo || at + n > fast.hi : at < axes[d].lo || at >= axes[d].hi) return -1;
      base += at * axes[d].stride;
      if (d == 0) return base;
    }
  };
  if (tile.cols == fast_points_ && joined_) {
    return run_at(all_, tile.slow * fast_points_ + tile.fast, tile.size(), offset_);
  }
  if (tile.rows != 1) return -1;
  // The slow point is a run of one, whatever its stride.
  std::int64_t index = tile.slow;
  std::int64_t base = offset_;
  for (std::size_t d = slow_.size(); d-- > 0;) {
    const std::int64_t at = d == 0 ? index : index % slow_[d].extent;
    if (d != 0) index /= slow_[d].extent;
    if (at < slow_[d].lo || at >= slow_[d].hi) return -1;
    base += at * slow_[d].stride;
  }
  return run_at(fast_, tile.fast, tile.cols, base);
}

}  // namespace oriel::backend::eigen
