// Short lists of sizes: shapes, strides, permutations, axes; and half-open ranges.
#pragma once

#include <cstddef>
#include <string>

#include "oriel/inline_vector.hpp"
#include "oriel/symint.hpp"

namespace oriel {

/// A short list of sizes. Up to rank 8 it lives without an allocation; any rank is allowed. A std::vector of integers
/// converts to it.
using Ints = InlineVector<SymInt, 8>;
/// The extents of a tensor, outermost axis first; all >= 0. `{}` is a scalar.
using Shape = Ints;

/// A half-open range [lo, hi) of positions along one axis; empty when hi <= lo.
struct Range {
  SymInt lo;
  SymInt hi;
  SymInt extent() const { return hi - lo; }
  friend bool operator==(const Range& a, const Range& b) { return a.lo == b.lo && a.hi == b.hi; }
};
/// One range an axis. In a mask, an empty list means "no mask".
using Ranges = InlineVector<Range, 8>;

/// Product of the extents; 1 for `{}`. Of symbols an expression, without a guard. Throws OverflowError naming
/// `operation` when it passes 2^63-1.
SymInt numel(const Ints& shape, const char* operation = "numel");

/// Row-major strides of `shape`: last axis 1. Axes of extent 0 count as 1, a symbol x as max(1, x).
Ints contiguous_strides(const Ints& shape);

/// "(2, 3, 4)"; "()" for a scalar.
std::string to_string(const Ints& shape);

/// A hash of the list's length and values.
std::size_t hash_value(const Ints& ints) noexcept;

}  // namespace oriel
