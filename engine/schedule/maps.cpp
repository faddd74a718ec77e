#include "schedule/maps.hpp"

#include <algorithm>
#include <boost/container/small_vector.hpp>

#include "oriel/error.hpp"
#include "view/merging/simplify.hpp"

namespace oriel::schedule {

using graph::Op;

View movement_view(const Entry& m, const Shape& source_shape) {
  const View whole = View::contiguous(source_shape);
  switch (m.op) {
    case Op::Permute:
      return whole.permute(std::get<Ints>(m.node->arg));
    case Op::Expand:
      return whole.expand(m.shape());
    case Op::Shrink:
      return whole.shrink(*std::get<std::shared_ptr<const Ranges>>(m.node->arg));
    case Op::Pad:
      return whole.pad(*std::get<std::shared_ptr<const Ranges>>(m.node->arg));
    case Op::Flip:
      return whole.flip(std::get<Ints>(m.node->arg));
    case Op::Format:
      return whole;
    case Op::RawView:  // checked when the node was built
      return *std::get<std::shared_ptr<const View>>(m.node->arg);
    default:
      throw InternalError("movement_view", std::string(graph::name(m.op)) + " is no movement with a view");
  }
}

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
  if (last_identity_ >= 0 && last_shape_ == shape) return last_identity_;
  last_identity_ = intern(View::contiguous(shape).canonical());
  last_shape_ = shape;
  return last_identity_;
}

MapId MapTable::through(MapId map, const Entry& movement, const Shape& source_shape) {
  if (movement.op == Op::Reshape || movement.op == Op::Format) return map;
  const MapId view = intern(movement_view(movement, source_shape).canonical());
  if ((*this)[map].shape() == movement.shape() && map == identity(movement.shape())) return view;
  const std::uint64_t key = static_cast<std::uint64_t>(map) << 32 | static_cast<std::uint64_t>(view);
  if (const auto known = composed_.find(key); known != composed_.end()) return known->second;
  const MapId composed = intern(detail::merged((*this)[map].over((*this)[view].views().front())));
  composed_.emplace(key, composed);
  return composed;
}

MapId MapTable::restrict_to(MapId map, const std::vector<bool>& keep) {
  if (std::all_of(keep.begin(), keep.end(), [](bool k) { return k; })) return map;
  const auto views = (*this)[map].views();
  std::vector<View> kept(views.begin(), views.end());
  const View& top = views.back();
  View& out = kept.back();
  out.shape.clear();
  out.strides.clear();
  out.mask.clear();
  for (std::size_t d = 0; d < keep.size(); ++d) {
    if (!keep[d]) continue;
    out.shape.push_back(top.shape[d]);
    out.strides.push_back(top.strides[d]);
    if (top.masked()) out.mask.push_back(top.mask[d]);
  }
  out = out.canonical();
  return intern(detail::trusted_stack(kept));
}

MapId MapTable::into_reduction(MapId map, const Shape& source_shape, const Ints& axes) {
  const Shape reduced = reduced_extents(source_shape, axes);
  const SymInt inner = numel(reduced);
  const Ints inner_strides = contiguous_strides(reduced);
  // Each view of the stack carries the reduced axes along, untouched; the lowest one then finds them in the source.
  std::vector<View> views;
  View base;
  const Ints source_strides = contiguous_strides(source_shape);
  std::vector<bool> is_reduced(source_shape.size());
  for (SymInt a : axes) is_reduced[static_cast<std::size_t>(a.value())] = true;
  for (std::size_t d = 0; d < source_shape.size(); ++d) {
    if (is_reduced[d]) continue;
    base.shape.push_back(source_shape[d]);
    base.strides.push_back(source_strides[d]);
  }
  for (std::size_t d = 0; d < source_shape.size(); ++d) {
    if (!is_reduced[d]) continue;
    base.shape.push_back(source_shape[d]);
    base.strides.push_back(source_strides[d]);
  }
  views.push_back(base.canonical());
  for (const View& v : (*this)[map].views()) {
    View extended = v;
    for (SymInt& s : extended.strides) s *= inner;
    extended.offset *= inner;
    for (std::size_t k = 0; k < reduced.size(); ++k) {
      extended.shape.push_back(reduced[k]);
      extended.strides.push_back(inner_strides[k]);
      if (v.masked()) extended.mask.push_back({0, reduced[k]});
    }
    views.push_back(extended);
  }
  return intern(detail::merged(detail::trusted_stack(views)));
}

bool MapTable::depends_on(MapId map, std::size_t d) const {
  const View& top = (*this)[map].views().back();
  // An axis whose range is cut matters even at extent 1: there it says that nothing is valid.
  if (top.masked() && !(top.mask[d] == Range{0, top.shape[d]})) return true;
  return top.shape[d] != 1 && top.strides[d] != 0;
}

bool MapTable::masked(MapId map) const {
  const auto views = (*this)[map].views();
  return std::any_of(views.begin(), views.end(), [](const View& v) { return v.masked(); });
}

bool MapTable::bijective(MapId map, SymInt elements) const {
  const ShapeTracker& tracker = (*this)[map];
  if (!tracker.single() || masked(map) || numel(tracker.shape()) != elements) return false;
  return injective(map, std::vector<bool>(tracker.shape().size(), true));
}

bool MapTable::injective(MapId map, const std::vector<bool>& axes) const {
  const ShapeTracker& tracker = (*this)[map];
  if (!tracker.single()) return false;
  const View& v = tracker.views().back();
  boost::container::small_vector<std::pair<SymInt, SymInt>, 8> steps;  // (|stride|, extent)
  for (std::size_t d = 0; d < v.shape.size(); ++d) {
    const SymInt extent = v.masked() ? v.mask[d].extent() : v.shape[d];
    if (!axes[d] || extent <= 1) continue;
    steps.emplace_back(v.strides[d] < 0 ? -v.strides[d] : v.strides[d], extent);
  }
  std::sort(steps.begin(), steps.end(), [](const auto& a, const auto& b) { return bool(a.first < b.first); });
  SymInt reach = 0;  // how far the smaller strides reach together
  for (const auto& [stride, extent] : steps) {
    if (stride <= reach) return false;
    reach += stride * (extent - 1);
  }
  return true;
}

}  // namespace oriel::schedule
