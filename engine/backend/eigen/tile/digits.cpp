#include "backend/eigen/tile/digits.hpp"

#include <algorithm>
#include <cstdlib>

namespace oriel::backend::eigen {

// Joins neighbouring loops that walk memory as one loop and move no digit that is tested.
void Digits::add(Loops& loops, const Loop& loop) {
  if (!loops.empty() && loop.bound == kFree && loops.back().bound == kFree &&
      loops.back().stride == loop.stride * loop.extent) {
    loops.back() = {loops.back().extent * loop.extent, loop.stride, 0, kFree};
  } else {
    loops.push_back(loop);
  }
}

std::optional<Digits> Digits::make(const codegen::Access& access, std::size_t outer, bool columns) {
  const auto maps = access.maps();
  if (maps.size() != 2 || access.boxed()) return std::nullopt;
  const codegen::AffineMap& lower = maps[1];
  const std::size_t rank = lower.axes.size();
  std::vector<std::int64_t> weight(rank, 1);
  std::int64_t points = 1;
  for (std::size_t a = rank; a-- > 0;) {
    weight[a] = points;
    points *= lower.axes[a].extent;
  }

  // The digits where all loops are 0, and how far the loops move each of them down and up.
  std::vector<std::int64_t> least(rank);
  std::int64_t position = access.offset();
  if (position < 0 || position >= points) return std::nullopt;
  Digits out;
  out.offset_ = lower.offset;
  std::vector<int> bound(rank, kFree);
  for (std::size_t a = 0; a < rank; ++a) {
    least[a] = position / weight[a];
    position %= weight[a];
    out.offset_ += least[a] * lower.axes[a].coefficient;
    const codegen::AccessAxis& axis = lower.axes[a];
    if (!axis.cut()) continue;
    bound[a] = static_cast<int>(out.bounds_.size());
    out.bounds_.push_back({least[a], axis.begin, axis.end});
  }
  std::vector<std::int64_t> most = least;
  Loops loops[2];  // the axes before `outer`, and the rest
  for (std::size_t d = 0; d < access.loops(); ++d) {
    const std::int64_t extent = access.extent(d);
    const std::int64_t stride = access.coefficient(d);
    if (extent == 1) continue;
    Loop loop;
    loop.extent = extent;
    if (stride != 0) {
      std::size_t a = 0;
      while (a < rank && (lower.axes[a].extent == 1 || stride % weight[a] != 0)) ++a;
      if (a == rank) return std::nullopt;
      loop.step = stride / weight[a];
      loop.stride = loop.step * lower.axes[a].coefficient;
      loop.bound = bound[a];
      (loop.step < 0 ? least : most)[a] += loop.step * (extent - 1);
    }
    add(loops[d < outer ? 0 : 1], loop);
  }
  for (std::size_t a = 0; a < rank; ++a) {
    if (least[a] < 0 || most[a] >= lower.axes[a].extent) return std::nullopt;
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
