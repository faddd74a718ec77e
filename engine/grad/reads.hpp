// Reads and sums at positions that are data.
#pragma once

#include "grad/step.hpp"

namespace oriel::derive {

/// x at `place`, int64 positions along an axis, one for each element of the result; 0 where one is negative.
Value read_along(const Value& x, const Value& place, std::size_t axis);
/// Zeros of shape `shape`, with the elements of x added at `place`, int64 positions along an axis, one for each of
/// them. What is outside is left out.
Value scattered(const Value& x, const Value& place, std::size_t axis, const Shape& shape, Op op = Op::ScatterSum);

}  // namespace oriel::derive
