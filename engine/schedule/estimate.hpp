// Sizes as numbers, for estimates of cost.
#pragma once

#include <cstdint>

#include "oriel/shape.hpp"
#include "sym/decide.hpp"
#include "sym/estimate.hpp"

namespace oriel::schedule {

using sym::estimate;

/// Does the condition hold for all sizes? False if that is not known, without a guard: for what may be left undone.
inline bool certain(SymBool condition) {
  return condition.is_symbolic() ? sym::known(condition).value_or(false) : static_cast<bool>(condition);
}

/// The number of points of these extents, as an estimate.
inline std::int64_t estimate_points(const Ints& extents, const char* operation = "schedule") {
  return estimate(numel(extents, operation));
}

}  // namespace oriel::schedule
