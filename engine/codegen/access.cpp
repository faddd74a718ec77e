#include "codegen/access.hpp"

#include <utility>

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
  for (std::size_t v = views.size(); v-- > 0;) maps_.push_back(map_of(views[v]));
}

Access Access::strided(std::int32_t argument, DType element, const Ints& extents, const Ints& coefficients) {
  return {argument, element, ShapeTracker(View::make(extents, coefficients))};
}

Access Access::row_major(std::int32_t argument, DType element, const Ints& extents) {
  return {argument, element, ShapeTracker(extents)};
}

void Access::remap(ShapeTracker stack) { *this = Access(buffer, dtype, std::move(stack)); }

void Access::permute(const Ints& order) { remap(stack_.permute(order)); }

void Access::restrict(const Ranges& ranges) {
  Ranges all = ranges;
  for (std::size_t d = ranges.size(); d < loops(); ++d) all.push_back({0, extent(d)});
  remap(stack_.shrink(all));
}

std::optional<Access> Access::with_joined(std::size_t d) const {
  Shape merged = stack_.shape();
  merged[d - 1] = merged[d - 1] * merged[d];
  merged.erase(merged.begin() + static_cast<std::ptrdiff_t>(d));
  ShapeTracker stack = stack_.reshape(merged);
  if (stack.views().size() > stack_.views().size()) return std::nullopt;
  return Access(buffer, dtype, std::move(stack));
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
