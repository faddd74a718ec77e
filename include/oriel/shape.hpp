// Short lists of sizes: shapes, strides, permutations, axes; and half-open ranges.
#pragma once

#include <cstddef>
#include <string>

#include "oriel/api.hpp"
#include "oriel/inline_vector.hpp"
#include "oriel/symint.hpp"

namespace ORIEL_API oriel {

/// A short list of sizes, of any length. Up to 8 entries need no allocation. A std::vector of integers converts to it.
using Ints = InlineVector<SymInt, 8>;
/// The extents of a tensor, outermost axis first; all >= 0. `{}` is a scalar.
using Shape = Ints;

/// A half-open range [lo, hi) of positions along one axis; empty when hi <= lo.
struct Range {
  SymInt lo;  ///< the first position
  SymInt hi;  ///< behind the last position
  /// The number of positions; negative if hi < lo.
  SymInt extent() const { return hi - lo; }
  /// Are both ends equal?
  friend bool operator==(const Range& a, const Range& b) { return a.lo == b.lo && a.hi == b.hi; }
};
/// One range per axis. As a mask, an empty list means "no mask".
using Ranges = InlineVector<Range, 8>;

/// The two ends of one axis.
struct AxisEnds {
  Range range;                                                     ///< how many elements before and after
  AxisEnds(SymInt before, SymInt after) : range{before, after} {}  ///< both
};

/// The number of elements: the product of the extents; 1 for `{}`. For symbols it is an expression, without a guard.
/// Throws OverflowError, which names `operation`, if it exceeds 2^63-1.
SymInt numel(const Ints& shape, const char* operation = "numel");

/// Row-major strides of `shape`, in elements: the stride of the last axis is 1. An extent of 0 counts as 1, a
/// symbol x as max(1, x). Throws OverflowError if a stride exceeds 2^63-1.
Ints contiguous_strides(const Ints& shape);

/// "(2, 3, 4)"; "()" for a scalar.
std::string to_string(const Ints& shape);

/// A hash of the list's length and values.
std::size_t hash_value(const Ints& ints) noexcept;

}  // namespace oriel
