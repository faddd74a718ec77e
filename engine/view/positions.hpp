// The positions of a view's valid indices.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "oriel/view.hpp"

namespace oriel::detail {

/// The least and greatest position of the valid indices, or nullopt if no index is valid. Throws OverflowError if one
/// does not fit.
struct PositionRange {
  SymInt least;
  SymInt greatest;
};
std::optional<PositionRange> position_range(const View& view);

/// True if every valid position of `outer` lies in [0, numel(inner)).
bool lies_inside(const View& outer, const View& inner);

/// Throws ShapeError unless every valid position of `outer` lies in [0, numel(inner)).
void require_inside(const char* operation, const View& outer, const View& inner);

/// The position of flat (row-major) index n of the view, or nullopt if it is invalid. Precondition: 0 <= n < numel.
std::optional<std::int64_t> position_of(const View& view, std::int64_t n);

/// The position to which the whole stack maps one index of the outermost view, or nullopt if it is invalid.
std::optional<std::int64_t> position_of(std::span<const View> innermost_first, std::span<const std::int64_t> index);

/// Positions in row-major order of the outermost shape, -1 where invalid. Precondition: its element count fits memory.
std::vector<std::int64_t> positions(std::span<const View> innermost_first);

}  // namespace oriel::detail
