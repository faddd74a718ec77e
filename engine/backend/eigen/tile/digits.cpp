#include "backend/eigen/tile/digits.hpp"

#include <algorithm>
#include <cstdlib>

namespace oriel::backend::eigen {

// Neighbours that walk memory as one loop, and move no digit that is tested, are one.
void Digits::add(Loops& loops, const Loop& loop) {
  if (!loops.empty() && loop.bound == kFree && loops.back().bound == kFree &&
      loops.back().stride == loop.stride * loop.extent) {
    loops.back() = {loops.back().extent * loop.extent, loop.stride, 0, kFree};
  } else {
    loops.push_back(loop);
  }
}

std::optional<Digits> Digits::make(const ShapeTracker& tracker, std::size_t outer, bool columns) {
  const auto views = tracker.views();
  if (views.size() != 2 || views.back().masked()) return std::nullopt;
  const View& top = views.back();
  const View& lower = views.front();
  const std::size_t rank = lower.rank();
  std::vector<std::int64_t> weight(rank, 1);
  for (std::size_t a = rank; a-- > 1;) weight[a - 1] = weight[a] * lower.shape[a].value();

  // The digits where all loops are 0, and how far the loops take each down and up.
  std::vector<std::int64_t> least(rank);
  std::int64_t position = top.offset.value();
  if (position < 0 || position >= lower.numel().value()) return std::nullopt;
  Digits out;
  out.offset_ = lower.offset.value();
  std::vector<int> bound(rank, kFree);
  for (std::size_t a = 0; a < rank; ++a) {
    least[a] = position / weight[a];
    position %= weight[a];
    out.offset_ += least[a] * lower.strides[a].value();
    if (!lower.masked() || (lower.mask[a].lo == 0 && lower.mask[a].hi == lower.shape[a])) continue;
    bound[a] = static_cast<int>(out.bounds_.size());
    out.bounds_.push_back({least[a], lower.mask[a].lo.value(), lower.mask[a].hi.value()});
  }
  std::vector<std::int64_t> most = least;
  Loops loops[2];  // the axes before `outer`, and the rest
  for (std::size_t d = 0; d < top.rank(); ++d) {
    const std::int64_t extent = top.shape[d].value();
    const std::int64_t stride = top.strides[d].value();
    if (extent == 1) continue;
    Loop loop;
    loop.extent = extent;
    if (stride != 0) {
      std::size_t a = 0;
      while (a < rank && (lower.shape[a] == 1 || stride % weight[a] != 0)) ++a;
      if (a == rank) return std::nullopt;
      loop.step = stride / weight[a];
      loop.stride = loop.step * lower.strides[a].value();
      loop.bound = bound[a];
      (loop.step < 0 ? least : most)[a] += loop.step * (extent - 1);
    }
    add(loops[d < outer ? 0 : 1], loop);
  }
  for (std::size_t a = 0; a < rank; ++a) {
    if (least[a] < 0 || most[a] >= lower.shape[a].value()) return std::nullopt;
  }
  out.slow_ = loops[columns ? 1 : 0];
  out.fast_ = loops[columns ? 0 : 1];
  if (out.slow_.empty()) out.slow_.emplace_back();
  while (out.fast_.size() < 2) out.fast_.insert(out.fast_.begin(), Loop{});
  if (out.bounds_.size() > kMaxBounds || out.slow_.size() > kMaxLoops || out.fast_.size() > kMaxLoops) {
    return std::nullopt;
  }
  return out;
}

}  // namespace oriel::backend::eigen
