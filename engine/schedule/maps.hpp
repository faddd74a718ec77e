// Index maps from a kernel's domain to the row-major positions of a node, interned: equal maps have one id.
#pragma once

#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

#include "graph/movements.hpp"
#include "oriel/view.hpp"
#include "schedule/arena.hpp"

namespace oriel::schedule {

using MapId = std::int32_t;

inline graph::Move move_of(const Entry& e) { return graph::move_of(e.op, e.shape(), e.node->arg); }

class MapTable {
 public:
  const ShapeTracker& operator[](MapId id) const { return maps_[static_cast<std::size_t>(id)]; }
  std::size_t size() const { return maps_.size(); }

  MapId add(const ShapeTracker& map) { return intern(map.simplify()); }
  /// Row-major over `shape`.
  MapId identity(const Shape& shape);
  /// `map` yields positions of the movement's result; the returned map yields those of its source.
  MapId compose_movement(MapId map, const Entry& movement, const Shape& source_shape);
  /// The map on the kept axes alone; it must not depend on the others.
  MapId restrict_to(MapId map, const std::vector<bool>& keep);
  /// `map` over P yields positions of a reduction's result. The returned map over P ++ reduced extents yields positions
  /// of its source, of shape `source_shape`, with `axes` reduced.
  MapId into_reduction(MapId map, const Shape& source_shape, const Ints& axes);

  /// Does the value at `map` change with axis d of the domain?
  bool depends_on(MapId map, std::size_t d) const;
  bool masked(MapId map) const;
  bool single(MapId map) const { return (*this)[map].single(); }
  /// One unmasked view that meets every position of `elements` exactly once.
  bool bijective(MapId map, SymInt elements) const;
  /// True if no two valid points of the domain, on these axes, share a position. Exact for one view whose strides nest;
  /// false if it could not be shown.
  bool injective(MapId map, const std::vector<bool>& axes) const;

 private:
  MapId intern(ShapeTracker tracker);
  MapId intern(const View& canonical);

  std::deque<ShapeTracker> maps_;
  std::unordered_multimap<std::size_t, MapId> by_hash_;
  // What `through` found, by map and by the view of a movement: merging a tall stack costs far more than a lookup.
  std::unordered_map<std::uint64_t, MapId> composed_;
  Shape last_shape_;
  MapId last_identity_ = -1;
};

/// The extents of the reduced axes, in order.
Shape reduced_extents(const Shape& source_shape, const Ints& axes);

}  // namespace oriel::schedule
