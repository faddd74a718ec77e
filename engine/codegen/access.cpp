#include "codegen/access.hpp"

#include <utility>

#include "view/plain.hpp"

namespace oriel::codegen {

namespace {

AffineMap map_of(const View& view) {
  AffineMap map;
  map.offset = view.offset.value();
  map.boxed = view.masked();
  map.axes.resize(view.rank());
  for (std::size_t d = 0; d < view.rank(); ++d) {
    AccessAxis& axis = map.axes[d];
    axis.extent = view.shape[d].value();
    axis.coefficient = view.strides[d].value();
    axis.begin = map.boxed ? view.mask[d].lo.value() : 0;
    axis.end = map.boxed ? view.mask[d].hi.value() : axis.extent;
  }
  return map;
}

}  // namespace

Access::Access(std::int32_t argument, DType element, ShapeTracker stack)
    : buffer(argument), dtype(element), stack_(std::move(stack)) {
  const auto views = stack_.views();
  if (detail::is_symbolic(views)) return;
  for (std::size_t v = views.size(); v-- > 0;) maps_.push_back(map_of(views[v]));
}

SymbolicAxis Access::axis(std::size_t d) const {
  const View& view = outermost();
  SymbolicAxis axis{view.shape[d], view.strides[d], 0, view.shape[d]};
  if (view.masked()) axis.begin = view.mask[d].lo, axis.end = view.mask[d].hi;
  return axis;
}

Access Access::strided(std::int32_t argument, DType element, const Ints& extents, const Ints& coefficients) {
  if (detail::is_symbolic(extents) || detail::is_symbolic(coefficients)) {
    const View view{extents, coefficients, 0, {}};
    return {argument, element, detail::trusted_stack({&view, 1})};
  }
  return {argument, element, ShapeTracker(View::make(extents, coefficients))};
}

Access Access::row_major(std::int32_t argument, DType element, const Ints& extents) {
  return {argument, element, ShapeTracker(extents)};
}

void Access::remap(ShapeTracker stack) { *this = Access(buffer, dtype, std::move(stack)); }

void Access::permute(const Ints& order) {
  if (!is_symbolic()) return remap(stack_.permute(order));
  std::vector<std::size_t> loops;
  for (const SymInt d : order) loops.push_back(static_cast<std::size_t>(d.value()));
  select(loops, {});
}

void Access::select(const std::vector<std::size_t>& order, const Ints& extents) {
  const View& from = outermost();
  View view{{}, {}, from.offset, {}};
  for (std::size_t k = 0; k < order.size(); ++k) {
    const bool has = order[k] < from.rank();
    const SymbolicAxis now = has ? axis(order[k]) : SymbolicAxis{extents[k], 0, 0, extents[k]};
    view.shape.push_back(now.extent);
    view.strides.push_back(now.coefficient);
    if (boxed()) view.mask.push_back({now.begin, now.end});
  }
  std::vector<View> views(stack_.views().begin(), stack_.views().end());
  views.back() = std::move(view);
  remap(detail::trusted_stack(views));
}

void Access::restrict(const Ranges& ranges) {
  Ranges all = ranges;
  for (std::size_t d = ranges.size(); d < loops(); ++d) all.push_back({0, extent(d)});
  remap(stack_.shrink(all));
}

std::optional<Access> Access::with_joined(std::size_t d) const {
  if (is_symbolic()) {
    const SymbolicAxis outer = axis(d - 1), inner = axis(d);
    if (!affine() || boxed() || !identical(outer.coefficient, inner.coefficient * inner.extent)) return std::nullopt;
    View view = outermost();
    const auto at = static_cast<std::ptrdiff_t>(d - 1);
    view.shape[d] = outer.extent * inner.extent;
    view.shape.erase(view.shape.begin() + at);
    view.strides.erase(view.strides.begin() + at);
    return Access(buffer, dtype, detail::trusted_stack({&view, 1}));
  }
  Shape merged = stack_.shape();
  merged[d - 1] = merged[d - 1] * merged[d];
  merged.erase(merged.begin() + static_cast<std::ptrdiff_t>(d));
  ShapeTracker stack = stack_.reshape(merged);
  if (stack.views().size() > stack_.views().size()) return std::nullopt;
  return Access(buffer, dtype, std::move(stack));
}

std::optional<LoopMoves> loop_moves(const Access& access) {
  const auto maps = access.maps();
  if (maps.size() != 2 || access.boxed()) return std::nullopt;
  const auto& axes = maps[1].axes;
  const std::size_t rank = axes.size();
  std::vector<std::int64_t> weight(rank, 1);
  std::int64_t points = 1;
  for (std::size_t a = rank; a-- > 0; points *= axes[a].extent) weight[a] = points;
  std::int64_t position = access.offset();
  if (position < 0 || position >= points) return std::nullopt;
  LoopMoves out;
  for (std::size_t a = 0; a < rank; ++a) {
    out.start.push_back(position / weight[a]);
    position %= weight[a];
  }
  std::vector<std::int64_t> least = out.start, most = out.start;
  for (std::size_t d = 0; d < access.loops(); ++d) {
    const std::int64_t extent = access.extent(d), stride = access.coefficient(d);
    LoopMove& move = out.loops.emplace_back();
    if (extent == 1 || stride == 0) continue;
    std::size_t a = 0;
    while (a < rank && (axes[a].extent == 1 || stride % weight[a] != 0)) ++a;
    if (a == rank) return std::nullopt;
    const std::int64_t step = stride / weight[a];
    move = {step * axes[a].coefficient, step, static_cast<int>(a)};
    (step < 0 ? least : most)[a] += step * (extent - 1);
  }
  for (std::size_t a = 0; a < rank; ++a)
    if (least[a] < 0 || most[a] >= axes[a].extent) return std::nullopt;
  return out;
}

std::optional<std::int64_t> even_stride(const Access& access, std::size_t from, std::size_t to) {
  std::int64_t stride = 0;
  std::int64_t extent = 1;
  for (std::size_t d = to; d-- > from;) {
    if (access.extent(d) == 1) continue;
    if (extent == 1) {
      stride = access.coefficient(d);
    } else if (access.coefficient(d) != stride * extent) {
      return std::nullopt;
    }
    extent *= access.extent(d);
  }
  return stride;
}

}  // namespace oriel::codegen
