// Where the valid indices of a view land.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "oriel/view.hpp"

namespace oriel::detail {

/// Least and greatest position over the valid indices, nothing where no index is valid. Throws OverflowError where one
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

/// Position of flat (row-major) index n of the view, or nothing. Precondition: 0 <= n < numel.
std::optional<std::int64_t> position_of(const View& view, std::int64_t n);

/// The whole stack at one index of the outermost view.
std::optional<std::int64_t> position_of(std::span<const View> innermost_first, std::span<const std::int64_t> index);

/// Positions in row-major order of the outermost shape, -1 where invalid. Precondition: its element count fits memory.
std::vector<std::int64_t> positions(std::span<const View> innermost_first);

}  // namespace oriel::detail
