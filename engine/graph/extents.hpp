// Whether a shape has sizes that fit 63 bits.
#pragma once

#include <string>

#include "oriel/error.hpp"
#include "oriel/shape.hpp"

namespace oriel::graph {

/// numel(shape), for an operation that makes a tensor of this shape. Throws OverflowError, which names the operation,
/// if the number of elements or a row-major stride exceeds 2^63-1. A stride can do so where an extent is 0, which
/// strides step over as over 1.
inline SymInt checked_numel(const Shape& shape, const char* operation) {
  const SymInt count = numel(shape, operation);
  if (!identical(count, 0)) return count;
  try {
    static_cast<void>(contiguous_strides(shape));
  } catch (const OverflowError&) {
    throw OverflowError(operation, "the strides of shape " + to_string(shape) +
                                       " pass 2^63-1, although it has no elements; give smaller extents");
  }
  return count;
}

}  // namespace oriel::graph
