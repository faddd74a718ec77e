#include "view/stacks/index_maps.hpp"

#include <utility>

#include "view/merging/refine.hpp"
#include "view/merging/simplify.hpp"

namespace oriel::detail {

Shape replace_axes(const Shape& shape, std::size_t first, std::size_t count, const Ints& extents) {
  Shape out(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(first));
  out.insert(out.end(), extents.begin(), extents.end());
  out.insert(out.end(), shape.begin() + static_cast<std::ptrdiff_t>(first + count), shape.end());
  return out;
}

ShapeTracker always_first(const Shape& shape) {
  return ShapeTracker(View{shape, Ints(shape.size(), SymInt(0)), 0, {}});
}

ShapeTracker composed(const ShapeTracker& outer, const ShapeTracker& inner) { return merged(outer.over(inner)); }

ShapeTracker in_memory(const ShapeTracker& map, const Shape& shape, const Ints& strides) {
  return merged(map.over(View{shape, strides, 0, {}}.canonical()));
}

ShapeTracker kept_axes(const ShapeTracker& map, const std::vector<bool>& keep) {
  const auto views = map.views();
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
  return trusted_stack(kept);
}

ShapeTracker into_reduction(const ShapeTracker& map, const Shape& source_shape, const Ints& axes) {
  std::vector<bool> is_reduced(source_shape.size());
  Shape reduced;
  for (const SymInt a : axes) {
    is_reduced[static_cast<std::size_t>(a.value())] = true;
    reduced.push_back(source_shape[static_cast<std::size_t>(a.value())]);
  }
  const SymInt inner = numel(reduced);
  const Ints inner_strides = contiguous_strides(reduced);
  // Each view of the stack carries the reduced axes along, untouched; the lowest one then finds them in the source.
  std::vector<View> views;
  View base;
  const Ints source_strides = contiguous_strides(source_shape);
  for (const bool now : {false, true}) {
    for (std::size_t d = 0; d < source_shape.size(); ++d) {
      if (is_reduced[d] != now) continue;
      base.shape.push_back(source_shape[d]);
      base.strides.push_back(source_strides[d]);
    }
  }
  views.push_back(base.canonical());
  for (const View& v : map.views()) {
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
  return merged(trusted_stack(views));
}

std::optional<std::vector<Ints>> split_axes(const ShapeTracker& map, std::size_t count) {
  std::optional<Refinement> refinement = refine(map.views().last(count));
  if (!refinement) return std::nullopt;
  return std::move(refinement->pieces);
}

ShapeTracker reshaped(const ShapeTracker& map, const Shape& shape) {
  ShapeTracker out = shape == map.shape() ? map : map.reshape(shape);
  if (!out.single()) out = merged(out);
  return out;
}

ShapeTracker join_axes(const ShapeTracker& map, std::size_t d, SymInt joined) {
  const View& top = map.views().back();
  // Joined axes may let a stack merge that no view over the separate axes could express.
  if (!map.single() || top.masked()) return reshaped(map, replace_axes(top.shape, d, 2, {joined}));
  View view = top;
  const auto gone = static_cast<std::ptrdiff_t>(top.shape[d + 1] == 1 ? d + 1 : d);
  view.strides.erase(view.strides.begin() + gone);
  view.shape.erase(view.shape.begin() + gone);
  view.shape[d] = joined;
  return trusted_stack({&view, 1});
}

ShapeTracker drop_axes(const ShapeTracker& map, std::size_t first, const std::vector<bool>& keep) {
  const View& top = map.views().back();
  Shape shape;
  Ints strides;
  for (std::size_t d = 0; d < top.rank(); ++d) {
    if (d >= first && d < first + keep.size() && !keep[d - first]) continue;
    shape.push_back(top.shape[d]);
    strides.push_back(top.strides[d]);
  }
  if (!map.single() || top.masked()) return reshaped(map, shape);
  const View view{std::move(shape), std::move(strides), top.offset, {}};
  return trusted_stack({&view, 1});
}

std::vector<std::shared_ptr<const View>> raw_views(const ShapeTracker& map) {
  std::vector<std::shared_ptr<const View>> views;
  for (const View& view : map.views()) views.push_back(std::make_shared<const View>(view));
  return views;
}

}  // namespace oriel::detail
