// Movements of sharded tensors. A movement of a view maps new indices to old positions. A sharding maps ranks and local
// indices to global positions, so it is composed with the map of old positions to new ones: a view as well, since a
// movement renames each element at most once (`expand` apart, which adds an axis to the local index).
#include <fmt/format.h>

#include <algorithm>

#include "oriel/error.hpp"
#include "shard/sharding.hpp"

namespace oriel::shards {
namespace {

/// The view with a further axis, of which the position counts fastest.
View with_fast_axis(const View& view, SymInt extent) {
  View result;
  result.shape = view.shape;
  result.shape.push_back(extent);
  for (const SymInt stride : view.strides) result.strides.push_back(stride * extent);
  result.strides.push_back(1);
  result.offset = view.offset * extent;
  result.mask = view.mask;
  if (view.masked()) result.mask.push_back({0, extent});
  return result;
}

}  // namespace

Sharding Sharding::moved(const Shape& shape, const View& map) const {
  return {mesh_, shape, place_.over(map).simplify(), local_strides_, local_shape_, pending_};
}

Sharding Sharding::reshape(const Shape& target) const {
  // Row-major positions stay what they are. The tracker checks the counts.
  const Shape shape = ShapeTracker(shape_).reshape(target).shape();
  return {mesh_, shape, place_, local_strides_, local_shape_, pending_};
}

Sharding Sharding::permute(const Ints& order) const {
  const Shape shape = View::contiguous(shape_).permute(order).shape;
  const Ints steps = contiguous_strides(shape);
  View map{shape_, shape_, 0, {}};
  for (std::size_t d = 0; d < order.size(); ++d) map.strides[static_cast<std::size_t>(order[d])] = steps[d];
  return moved(shape, map);
}

Sharding Sharding::flip(const Ints& axes) const { return moved(shape_, View::contiguous(shape_).flip(axes)); }

Sharding Sharding::shrink(const Ranges& ranges) const {
  const Shape shape = View::contiguous(shape_).shrink(ranges).shape;
  const Ints steps = contiguous_strides(shape);
  View map{shape_, steps, 0, ranges};
  for (std::size_t d = 0; d < ranges.size(); ++d) map.offset -= ranges[d].lo * steps[d];
  return moved(shape, map);
}

Sharding Sharding::pad(const Ranges& before_after) const {
  const Shape shape = View::contiguous(shape_).pad(before_after).shape;
  const Ints steps = contiguous_strides(shape);
  View map{shape_, steps, 0, {}};
  for (std::size_t d = 0; d < before_after.size(); ++d) map.offset += before_after[d].lo * steps[d];
  return moved(shape, map);
}

Sharding Sharding::expand(const Shape& target) const {
  const Shape shape = View::contiguous(shape_).expand(target).shape;
  const Ints steps = contiguous_strides(shape);
  Sharding result = *this;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const SymInt extent = shape[d];
    if (shape_[d] == extent) continue;
    // Old position p and step e along the axis first become p * extent + e, then a position of the larger shape.
    std::vector<View> views;
    for (const View& view : result.place_.views()) views.push_back(with_fast_axis(view, extent));
    Shape larger = result.shape_;
    larger[d] = extent;
    const Ints larger_steps = contiguous_strides(larger);
    View map{result.shape_, larger_steps, 0, {}};
    map.shape.push_back(extent);
    map.strides[d] = 0;
    map.strides.push_back(larger_steps[d]);
    views.insert(views.begin(), map);
    Ints strides = result.local_strides_;
    strides.push_back(0);
    result = {mesh_, larger, detail::trusted_stack(views).simplify(), strides, local_shape_, pending_};
  }
  return result;
}

Sharding Sharding::stacked(const Shape& parts) const {
  Shape unit;
  Shape target = parts;
  for (std::size_t k = 0; k < parts.size(); ++k) unit.push_back(1);
  for (const SymInt extent : shape_) {
    unit.push_back(extent);
    target.push_back(extent);
  }
  Sharding result = reshape(unit).expand(target);
  // `expand` stores each element once for all parts; here each part has a block of its own.
  Shape local = parts;
  for (const SymInt extent : local_shape_) local.push_back(extent);
  const Ints steps = contiguous_strides(local);
  Ints strides = result.local_strides_;
  std::size_t added = local_strides_.size();
  for (std::size_t k = 0; k < parts.size(); ++k) {
    if (parts[k] != 1) strides[added++] = steps[k];
  }
  return {mesh_, target, result.place_, strides, local, pending_};
}

Sharding Sharding::completed() const { return {mesh_, shape_, place_, local_strides_, local_shape_, {}}; }

Sharding Sharding::contributions() const {
  Shape shape;
  SymInt parts = 1;
  for (std::size_t k = 0; k < pending_.size(); ++k) {
    if (pending_[k]) shape.push_back(mesh_.axes()[k].size);
  }
  // The innermost view yields a position of one contribution; the mesh axes' part is added to it. It passes every view
  // as a further slow axis, of which the row-major index of the view below counts slowest.
  std::vector<View> views(place_.views().begin(), place_.views().end());
  for (const SymInt extent : shape) parts *= extent;
  const SymInt whole = numel(shape_);
  for (std::size_t k = 0; k + 1 < views.size(); ++k) {
    View& view = views[k];
    const SymInt step = k == 0 ? whole : numel(place_.views()[k - 1].shape);
    view.shape.insert(view.shape.begin(), parts);
    view.strides.insert(view.strides.begin(), step);
    if (!view.mask.empty()) view.mask.insert(view.mask.begin(), Range{0, parts});
  }
  View& outer = views.back();
  const SymInt step = views.size() == 1 ? whole : numel(place_.views()[views.size() - 2].shape);
  SymInt finer = 1;
  for (std::size_t k = pending_.size(); k-- > 0;) {
    if (!pending_[k]) continue;
    outer.strides[k] += step * finer;
    finer *= mesh_.axes()[k].size;
  }
  for (const SymInt extent : shape_) shape.push_back(extent);
  return {mesh_, shape, detail::trusted_stack(views).simplify(), local_strides_, local_shape_, {}};
}

Sharding Sharding::divided() const {
  const std::size_t mesh_axes = mesh_.axes().size();
  const View& top = place_.views().back();
  // Mesh axes along which nothing changes; the first of them divides coarsest.
  std::vector<std::size_t> same;
  std::int64_t parts = 1;
  for (std::size_t k = 0; k < mesh_axes; ++k) {
    if (top.shape[k] == 1 || top.strides[k] != 0 || (top.masked() && top.mask[k].extent() != top.shape[k])) continue;
    same.push_back(k);
    parts *= top.shape[k].value();
  }
  if (same.empty()) return *this;
  const std::int64_t count = numel(local_index()).value();
  const std::int64_t block = (count + parts - 1) / parts;
  Shape flat;
  Ranges padding;
  Ranges first;
  Shape rows;
  for (std::size_t k = 0; k < mesh_axes; ++k) {
    const bool split = std::find(same.begin(), same.end(), k) != same.end();
    first.push_back({0, split ? SymInt(1) : top.shape[k]});
    flat.push_back(split ? SymInt(1) : top.shape[k]);
    padding.push_back({0, 0});
  }
  for (const SymInt extent : local_index()) first.push_back({0, extent});
  flat.push_back(count);
  padding.push_back({0, block * parts - count});
  // The padded blocks as (mesh without the divided axes, parts * block), read by rank.
  const ShapeTracker blocks = place_.shrink(first).reshape(flat).pad(padding);
  const Ints steps = contiguous_strides(blocks.shape());
  View view;
  std::int64_t finer = parts;
  for (std::size_t k = 0; k < mesh_axes; ++k) {
    const bool split = std::find(same.begin(), same.end(), k) != same.end();
    if (split) finer /= top.shape[k].value();
    view.shape.push_back(top.shape[k]);
    view.strides.push_back(split ? SymInt(block * finer) : steps[k]);
  }
  view.shape.push_back(block);
  view.strides.push_back(1);
  const ShapeTracker place = blocks.view(View::make(view.shape, view.strides, 0, {}));
  return {mesh_, shape_, place.simplify(), {1}, {block}, pending_};
}

}  // namespace oriel::shards
