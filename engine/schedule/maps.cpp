#include "schedule/maps.hpp"

#include <algorithm>

#include "graph/build.hpp"
#include "view/stacks/index_maps.hpp"
#include "view/stacks/questions.hpp"

namespace oriel::schedule {

Shape reduced_extents(const Shape& source_shape, const Ints& axes) {
  Shape extents;
  for (SymInt a : axes) extents.push_back(source_shape[static_cast<std::size_t>(a.value())]);
  return extents;
}

MapId MapTable::intern(ShapeTracker tracker) {
  const std::size_t h = hash_value(tracker);
  auto [first, last] = by_hash_.equal_range(h);
  for (; first != last; ++first)
    if (maps_[static_cast<std::size_t>(first->second)] == tracker) return first->second;
  const auto id = static_cast<MapId>(maps_.size());
  maps_.push_back(std::move(tracker));
  by_hash_.emplace(h, id);
  return id;
}

MapId MapTable::intern(const View& canonical) { return intern(detail::trusted_stack({&canonical, 1})); }

MapId MapTable::identity(const Shape& shape) {
  if (last_identity_ >= 0 && graph::known_same(last_shape_, shape)) return last_identity_;
  last_identity_ = intern(View::contiguous(shape).canonical());
  last_shape_ = shape;
  return last_identity_;
}

MapId MapTable::compose_movement(MapId map, const Entry& movement, const Shape& source_shape) {
  if (graph::keeps_positions(movement.op)) return map;
  const MapId view = intern(graph::view_of(move_of(movement), source_shape).canonical());
  if (graph::known_same((*this)[map].shape(), movement.shape()) && map == identity(movement.shape())) return view;
  const std::uint64_t key = static_cast<std::uint64_t>(map) << 32 | static_cast<std::uint64_t>(view);
  if (const auto known = composed_.find(key); known != composed_.end()) return known->second;
  const MapId composed = intern(detail::composed((*this)[map], (*this)[view]));
  composed_.emplace(key, composed);
  return composed;
}

MapId MapTable::restrict_to(MapId map, const std::vector<bool>& keep) {
  if (std::all_of(keep.begin(), keep.end(), [](bool k) { return k; })) return map;
  return intern(detail::kept_axes((*this)[map], keep));
}

MapId MapTable::into_reduction(MapId map, const Shape& source_shape, const Ints& axes) {
  return intern(detail::into_reduction((*this)[map], source_shape, axes));
}

bool MapTable::depends_on(MapId map, std::size_t d) const { return detail::depends_on((*this)[map], d); }

bool MapTable::masked(MapId map) const { return detail::masked((*this)[map]); }

bool MapTable::bijective(MapId map, SymInt elements) const {
  const ShapeTracker& tracker = (*this)[map];
  if (!tracker.single() || masked(map) || numel(tracker.shape()) != elements) return false;
  return injective(map, std::vector<bool>(tracker.shape().size(), true));
}

bool MapTable::injective(MapId map, const std::vector<bool>& axes) const {
  return detail::steps_nest((*this)[map], axes);
}

}  // namespace oriel::schedule
