#include "backend/eigen/tile/pattern.hpp"

#include <algorithm>
#include <limits>

#include "backend/eigen/isa/table.hpp"

namespace oriel::backend::eigen {

using codegen::AccessAxis;
using codegen::AffineMap;

namespace {

// Positions that repeat after more points than this are computed run by run.
constexpr std::int64_t kMostPoints = 64;
// From this many points on, a box, or a run of one, is copied as fast.
constexpr std::int64_t kLargeBox = 64;
constexpr std::int64_t kLongRun = 16;
// Rows of a box of two axes that are copied one by one; longer ones are copied as fast as they are looked up.
constexpr std::int64_t kTinyRow = 4;
// The points of the list, about a tile.
constexpr std::int64_t kTabulated = 1024;
constexpr std::int64_t kNowhere = -1;

// The loops of a map that have several points, where neighbours that walk evenly are one.
std::vector<AccessAxis> joined_axes(const AffineMap& map, const std::vector<std::size_t>& loops) {
  std::vector<AccessAxis> axes;
  for (const std::size_t d : loops) join_axis(axes, map.axes[d]);
  return axes;
}

// Would a box hold so many points that it is copied as fast? Boxes are the last two loops, or the last fast one for
// several slow points.
bool large_boxes(const AffineMap& map, const std::vector<std::size_t>& slow, const std::vector<std::size_t>& fast) {
  const std::vector<AccessAxis> axes = joined_axes(map, fast);
  const std::size_t n = axes.size();
  if (!joined_axes(map, slow).empty()) return n < 2 || axes[n - 1].extent >= kLongRun;
  if (n == 2) return axes[1].extent > kTinyRow;
  return n < 2 || axes[n - 1].extent * axes[n - 2].extent >= kLargeBox;
}

/// How loops move through the last map of an access of one map or two.
class Mover {
 public:
  explicit Mover(const codegen::Access& access)
      : top_(access.map()), below_(access.maps().size() == 2 ? &access.maps()[1] : nullptr) {
    if (below_ == nullptr) return;
    const std::size_t rank = below_->axes.size();
    weights_.assign(rank, 1);
    least_.assign(rank, 0);
    most_.assign(rank, 0);
    for (std::size_t a = rank; a-- > 0;) {
      weights_[a] = points_;
      points_ *= below_->axes[a].extent;
    }
  }

  /// What each point of a loop adds to a position in memory, if it is the same at all points of the others: they are
  /// checked by `stays`.
  std::optional<std::int64_t> shift(std::size_t d) {
    const AccessAxis& axis = top_.axes[d];
    if (axis.cut()) return std::nullopt;
    if (below_ == nullptr || axis.coefficient == 0 || axis.extent == 1) return axis.coefficient;
    for (std::size_t a = 0; a < weights_.size(); ++a) {
      const AccessAxis& below = below_->axes[a];
      if (below.extent == 1 || axis.coefficient % weights_[a] != 0) continue;
      if (below.cut()) return std::nullopt;
      const std::int64_t step = axis.coefficient / weights_[a];
      (step < 0 ? least_ : most_)[a] += step * (axis.extent - 1);
      return step * below.coefficient;
    }
    return std::nullopt;
  }

  /// The position of a point of the top map, kNowhere if it has none.
  std::int64_t position(std::int64_t top) const noexcept {
    if (below_ == nullptr) return top;
    std::int64_t sum = below_->offset;
    for (std::size_t a = 0; a < weights_.size(); ++a) {
      const AccessAxis& axis = below_->axes[a];
      const std::int64_t digit = top / weights_[a] % axis.extent;
      if (digit < axis.begin || digit >= axis.end) return kNowhere;
      sum += digit * axis.coefficient;
    }
    return sum;
  }

  /// Does no shift carry from one axis of the map below into another, from this point of the top map on?
  bool stays(std::int64_t top) const noexcept {
    if (below_ == nullptr) return true;
    if (top < 0 || top >= points_) return false;
    for (std::size_t a = 0; a < weights_.size(); ++a) {
      if (least_[a] == 0 && most_[a] == 0) continue;
      const std::int64_t digit = top / weights_[a] % below_->axes[a].extent;
      if (digit + least_[a] < 0 || digit + most_[a] >= below_->axes[a].extent) return false;
    }
    return true;
  }

 private:
  const AffineMap& top_;
  const AffineMap* below_;
  std::vector<std::int64_t> weights_;  // of the axes of the map below in its flat positions
  std::vector<std::int64_t> least_;    // how far the shifts move a digit
  std::vector<std::int64_t> most_;
  std::int64_t points_ = 1;
};

}  // namespace

void join_axis(std::vector<AccessAxis>& axes, const AccessAxis& axis) {
  if (axis.extent == 1) return;
  if (axes.empty() || axis.cut() || axes.back().coefficient != axis.coefficient * axis.extent) {
    axes.push_back(axis);
    return;
  }
  AccessAxis& last = axes.back();
  last = {last.extent * axis.extent, axis.coefficient, last.begin * axis.extent, last.end * axis.extent};
}

void Pattern::add(Shifts& shifts, const Shift& next) {
  if (next.extent == 1) return;
  if (!shifts.empty() && shifts.back().step == next.step * next.extent)
    shifts.back() = {shifts.back().extent * next.extent, next.step};
  else
    shifts.push_back(next);
}

std::optional<Pattern> Pattern::repeating(const codegen::Access& access, const std::vector<std::size_t>& slow,
                                          const std::vector<std::size_t>& fast, std::size_t repeated) {
  const AffineMap& top = access.map();
  Mover mover(access);
  Pattern out;
  const std::size_t first = fast.size() - repeated;
  for (const std::size_t d : slow) {
    const std::optional<std::int64_t> step = mover.shift(d);
    if (!step) return std::nullopt;
    add(out.slow_, {top.axes[d].extent, *step});
  }
  for (std::size_t k = 0; k < first; ++k) {
    const std::optional<std::int64_t> step = mover.shift(fast[k]);
    if (!step) return std::nullopt;
    add(out.fast_, {top.axes[fast[k]].extent, *step});
  }
  if (out.fast_.empty()) return std::nullopt;
  for (std::size_t k = first; k < fast.size(); ++k) out.points_ *= top.axes[fast[k]].extent;
  std::vector<std::int64_t> positions;
  for (std::int64_t point = 0; point < out.points_; ++point) {
    std::int64_t at = top.offset;
    std::int64_t rest = point;
    bool valid = true;
    for (std::size_t k = fast.size(); k-- > first;) {
      const AccessAxis& axis = top.axes[fast[k]];
      const std::int64_t digit = rest % axis.extent;
      rest /= axis.extent;
      valid = valid && digit >= axis.begin && digit < axis.end;
      at += digit * axis.coefficient;
    }
    if (valid && !mover.stays(at)) return std::nullopt;
    positions.push_back(valid ? mover.position(at) : kNowhere);
  }
  if (!out.tabulate(positions)) return std::nullopt;
  return out;
}

// Lists the distances of the repeated points, and of as many points of the last shift as about a tile holds.
bool Pattern::tabulate(const std::vector<std::int64_t>& positions) {
  const Shift& last = fast_.back();
  tabulated_ = std::clamp<std::int64_t>(kTabulated / points_, 1, last.extent);
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  std::int64_t most = std::numeric_limits<std::int64_t>::min();
  for (const std::int64_t p : positions) {
    holes_ = holes_ || p == kNowhere;
    if (p == kNowhere) continue;
    least = std::min(least, p);
    most = std::max(most, p);
  }
  if (most < least) return false;
  const std::int64_t moved = last.step * (tabulated_ - 1);
  offset_ = least + std::min<std::int64_t>(moved, 0);
  if (most + std::max<std::int64_t>(moved, 0) - offset_ > std::numeric_limits<std::int32_t>::max()) return false;
  for (std::int64_t k = 0; k < tabulated_; ++k)
    for (const std::int64_t p : positions)
      distances_.push_back(p == kNowhere ? isa::kNoElement : static_cast<std::int32_t>(p + k * last.step - offset_));
  least_.assign(distances_.size(), isa::kNoElement);
  for (std::size_t k = 0; !holes_ && k + isa::kPickedTogether <= distances_.size(); ++k) {
    const auto [low, high] =
        std::minmax_element(distances_.begin() + static_cast<std::ptrdiff_t>(k),
                            distances_.begin() + static_cast<std::ptrdiff_t>(k) + isa::kPickedTogether);
    if (*high - *low < 2 * isa::kPickedTogether) least_[k] = *low;
  }
  return true;
}

std::optional<Pattern> Pattern::make(const codegen::Access& access, const std::vector<std::size_t>& slow,
                                     const std::vector<std::size_t>& fast) {
  if (access.buffer < 0 || access.maps().size() > 2) return std::nullopt;
  if (access.maps().size() == 1 && large_boxes(access.map(), slow, fast)) return std::nullopt;
  std::int64_t points = 1;
  std::optional<Pattern> found;
  for (std::size_t repeated = 1; repeated < fast.size(); ++repeated) {
    points *= access.extent(fast[fast.size() - repeated]);
    if (points > kMostPoints) break;
    if (std::optional<Pattern> longer = repeating(access, slow, fast, repeated)) found = std::move(longer);
  }
  return found;
}

}  // namespace oriel::backend::eigen
