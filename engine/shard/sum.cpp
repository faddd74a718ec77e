// Sums along an axis: which axes of the mesh and of the local index the sum runs over, and where its results lie.
#include <fmt/format.h>

#include "oriel/error.hpp"
#include "shard/sharding.hpp"

namespace oriel::shards {
namespace {

/// How positions change from one index to the next along an axis.
enum class Motion { unknown, none, everywhere, mixed };

/// Compares each pair of valid neighbours along the axis. `unknown`: there is none.
Motion motion_along(const ShapeTracker& map, std::size_t axis) {
  const Shape& shape = map.shape();
  if (shape[axis] <= 1) return Motion::unknown;
  Ranges all;
  for (const SymInt extent : shape) all.push_back({0, extent});
  Ranges left = all;
  Ranges right = all;
  left[axis].hi = shape[axis] - 1;
  right[axis].lo = 1;
  Shape pairs = shape;
  pairs[axis] = shape[axis] - 1;
  const Ints index = contiguous_strides(pairs);
  Ints none;
  for (std::size_t d = 0; d < shape.size(); ++d) none.push_back(0);
  constexpr Column from[] = {kPosition, kLocal};
  constexpr Column to[] = {kOtherLocal, kLocal};
  const Boxes second = moved(boxes_of(map.shrink(right).simplify(), none, index), from, to);
  Motion motion = Motion::unknown;
  for (const Box& box : join(boxes_of(map.shrink(left).simplify(), none, index), second, kLocal)) {
    bool same_steps = true;
    for (const Loop& loop : box.loops) same_steps = same_steps && loop.step[kPosition] == loop.step[kOtherLocal];
    const bool same_start = box.start[kPosition] == box.start[kOtherLocal];
    const Motion here = !same_steps ? Motion::mixed : same_start ? Motion::none : Motion::everywhere;
    if (motion != Motion::unknown && motion != here) return Motion::mixed;
    motion = here;
  }
  return motion;
}

/// The rank and the position as one key.
Boxes with_rank_key(Boxes boxes, std::int64_t positions) {
  const auto change = [&](Row& row) { row[kPosition] += row[kRank] * positions; };
  for (Box& box : boxes) {
    change(box.start);
    for (Loop& loop : box.loops) change(loop.step);
  }
  return boxes;
}

/// Each source position, as it stands in `positions`, with the position that `map` gives it.
Boxes mapped(const Boxes& positions, const View& map) {
  Ints none;
  for (std::size_t d = 0; d < map.rank(); ++d) none.push_back(0);
  constexpr Column from[] = {kLocal, kPosition};
  constexpr Column to[] = {kPosition, kOtherLocal};
  const Boxes pairs = moved(boxes_of(ShapeTracker(map), none, contiguous_strides(map.shape)), from, to);
  constexpr Column result[] = {kOtherLocal};
  constexpr Column position[] = {kPosition};
  return moved(join(moved(positions, position, position), pairs, kPosition), result, position);
}

/// Why `result` is not the sum of `source`, whose positions `map` sends to those of the result; null if it is. The
/// choice of axes makes it right for most shardings; masks and halos can break it.
const char* fault_of_sum(const Sharding& source, const Sharding& result, const View& map) {
  const Mesh& mesh = source.mesh();
  // A group is the ranks that differ along pending axes alone.
  const auto strides = [&](const ShapeTracker& place, bool groups) {
    Ints steps;
    for (std::size_t k = 0; k < place.shape().size(); ++k) {
      const bool counts = k < mesh.axes().size() && !(groups && result.pending()[k]);
      steps.push_back(counts ? mesh.stride(k) : 0);
    }
    return steps;
  };
  const auto boxes = [&](const ShapeTracker& place, bool groups, SymInt positions) {
    Ints none;
    for (std::size_t k = 0; k < place.shape().size(); ++k) none.push_back(0);
    return with_rank_key(boxes_of(place, strides(place, groups), none), positions.value());
  };
  const SymInt positions = numel(result.shape());
  const Boxes all = boxes(source.place(), true, numel(source.shape()));
  if (count(distinct(all, kPosition)) != count(all)) return "elements in halos would be added twice";
  const ShapeTracker results = source.place().over(map).simplify();
  if (!subtract(boxes(results, false, positions), boxes(result.place(), false, positions), kPosition).empty()) {
    return "ranks hold different pieces of a part";
  }
  // Every group that has a sum adds all elements that any rank holds of it.
  Boxes sums = distinct(boxes(result.place(), true, positions), kPosition);
  sums = with_rank_key(std::move(sums), -positions.value());
  const Boxes held = distinct(source.boxes(), kPosition);
  if (count(join(sums, mapped(held, map), kPosition)) != count(all)) {
    return "ranks that are not neighbours hold parts of one sum";
  }
  return nullptr;
}

}  // namespace

Sharding Sharding::sum(std::size_t axis) const {
  if (axis >= shape_.size()) {
    throw ShapeError("sum", fmt::format("axis {} of {}; its axes are 0 to {}", axis, to_string(shape_),
                                        static_cast<std::int64_t>(shape_.size()) - 1));
  }
  Shape shape;
  for (std::size_t d = 0; d < shape_.size(); ++d) {
    if (d != axis) shape.push_back(shape_[d]);
  }
  const Ints kept = contiguous_strides(shape);
  View map{shape_, {}, 0, {}};
  for (std::size_t d = 0; d < shape_.size(); ++d) {
    map.strides.push_back(d == axis ? SymInt(0) : kept[d < axis ? d : d - 1]);
  }
  const ShapeTracker results = place_.over(map).simplify();

  const std::size_t mesh_axes = mesh_.axes().size();
  std::vector<bool> pending = pending_;
  std::vector<bool> summed(results.shape().size());
  Ranges first;
  Shape local;
  for (std::size_t k = 0; k < results.shape().size(); ++k) {
    const Motion motion = motion_along(results, k);
    if (motion == Motion::mixed) {
      throw ShapeError("sum", fmt::format("{} of {} moves along axis {} of {} and along others; reshard first, so that "
                                          "no rank's part is a piece of several rows",
                                          k < mesh_axes ? "mesh axis " + mesh_.axes()[k].name
                                                        : fmt::format("local axis {}", k - mesh_axes),
                                          str(), axis, to_string(shape_)));
    }
    summed[k] = motion == Motion::none && motion_along(place_, k) != Motion::none;
    const SymInt extent = results.shape()[k];
    if (k < mesh_axes) {
      if (summed[k]) pending[k] = true;
      first.push_back({0, extent});
    } else {
      first.push_back({0, summed[k] ? SymInt(1) : extent});
      local.push_back(first.back().hi);
    }
  }
  // The sums lie where one summed element of each lies: the first of a part, or where masks hide that, one in the
  // middle or the last. Where a rank lacks it, the ranks along pending axes follow one of them: such a rank adds zero.
  const Shape whole = results.shrink(first).shape();
  const char* reason = "";
  for (const std::int64_t element : {0, 50, 100}) {
    for (const std::int64_t leader : {-1, 0, 50, 100}) {
      Ranges part = first;
      for (std::size_t k = 0; k < part.size(); ++k) {
        const std::int64_t percent = k < mesh_axes ? leader : element;
        if (!summed[k] || percent < 0) continue;
        const SymInt at = (results.shape()[k] - 1) * percent / 100;
        part[k] = {at, at + 1};
      }
      const ShapeTracker place = results.shrink(part).expand(whole).simplify();
      Sharding result{mesh_, shape, place, contiguous_strides(local), local, pending};
      reason = fault_of_sum(*this, result, map);
      if (reason == nullptr) return result;
    }
  }
  throw ShapeError("sum",
                   fmt::format("axis {} of {} as {}: {}; reshard first", axis, to_string(shape_), str(), reason));
}

}  // namespace oriel::shards
