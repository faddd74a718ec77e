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
  const std::optional<codegen::LoopMoves> moves = codegen::loop_moves(access);
  if (!moves) return std::nullopt;
  const codegen::AffineMap& lower = access.maps()[1];
  Digits out;
  out.offset_ = lower.offset;
  std::vector<int> bound(lower.axes.size(), kFree);
  for (std::size_t a = 0; a < lower.axes.size(); ++a) {
    const codegen::AccessAxis& axis = lower.axes[a];
    out.offset_ += moves->start[a] * axis.coefficient;
    if (!axis.cut()) continue;
    bound[a] = static_cast<int>(out.bounds_.size());
    out.bounds_.push_back({moves->start[a], axis.begin, axis.end});
  }
  Loops loops[2];  // the axes before `outer`, and the rest
  for (std::size_t d = 0; d < access.loops(); ++d) {
    if (access.extent(d) == 1) continue;
    const codegen::LoopMove& move = moves->loops[d];
    const int moved = move.axis < 0 ? kFree : bound[static_cast<std::size_t>(move.axis)];
    add(loops[d < outer ? 0 : 1], {access.extent(d), move.stride, move.step, moved});
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
