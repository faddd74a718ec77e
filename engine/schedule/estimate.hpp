// Sizes as numbers, for estimates of cost.
#pragma once

#include <cstdint>

#include "oriel/shape.hpp"
#include "sym/estimate.hpp"

namespace oriel::schedule {

using sym::certain;
using sym::estimate;

/// The number of points of these extents, as an estimate.
inline std::int64_t estimate_points(const Ints& extents, const char* operation = "schedule") {
  return estimate(numel(extents, operation));
}

}  // namespace oriel::schedule
