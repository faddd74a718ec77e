// Index maps that the scheduler makes of others. It looks into none of them (questions.hpp).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "oriel/view.hpp"

namespace oriel::detail {

/// `extents` in place of `count` axes from `first`.
Shape replace_axes(const Shape& shape, std::size_t first, std::size_t count, const Ints& extents);

/// Position 0 at every index.
ShapeTracker always_first(const Shape& shape);

/// `outer` over `inner`, merged as far as pairs merge: maps that are still being composed.
ShapeTracker composed(const ShapeTracker& outer, const ShapeTracker& inner);

/// `map` yields row-major positions of `shape`; the result yields those of memory with these strides.
ShapeTracker in_memory(const ShapeTracker& map, const Shape& shape, const Ints& strides);

/// The map on the kept axes alone. Precondition: it does not depend on the others.
ShapeTracker kept_axes(const ShapeTracker& map, const std::vector<bool>& keep);

/// `map` yields positions of a reduction's result. The returned map, over the axes of `map` and then the reduced ones,
/// yields positions of its source, of shape `source_shape`, with `axes` reduced.
ShapeTracker into_reduction(const ShapeTracker& map, const Shape& source_shape, const Ints& axes);

/// The split of the axes under which the `count` outermost views are one; nullopt if there is none.
std::optional<std::vector<Ints>> split_axes(const ShapeTracker& map, std::size_t count);

/// The map over axes of these extents, in place of its own, merged as far as pairs merge.
ShapeTracker reshaped(const ShapeTracker& map, const Shape& shape);

/// Axes d and d + 1 as one, of extent `joined`. Precondition: axes_join(map, d).
ShapeTracker join_axes(const ShapeTracker& map, std::size_t d, SymInt joined);

/// The map without the axes from `first` on that are not kept. Precondition: the extents of these are 1.
ShapeTracker drop_axes(const ShapeTracker& map, std::size_t first, const std::vector<bool>& keep);

/// The views of the map, each as a movement over the one before it, innermost first.
std::vector<std::shared_ptr<const View>> raw_views(const ShapeTracker& map);

}  // namespace oriel::detail
