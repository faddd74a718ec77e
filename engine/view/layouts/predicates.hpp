// The branching predicates of memory formats, as templates over the kind of integer (view/plain.hpp), for callers that
// know whether their sizes are plain.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "view/canonical.hpp"
#include "view/layouts/layout.hpp"

namespace oriel::detail {

/// A product that saturates at the limit. Beyond 2^63-1 no stride can match any more, so the predicates answer as with
/// exact arithmetic.
inline Plain times(Plain a, Plain b) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(a.value(), b.value(), &product)) return std::numeric_limits<std::int64_t>::max();
  return product;
}
inline SymInt times(SymInt a, SymInt b) {
  if (a.is_symbolic() || b.is_symbolic()) return a * b;
  return times(Plain(a), Plain(b));
}

template <Number N>
bool dense_as(const Shape& shape, const Ints& strides, std::span<const std::size_t> order) {
  N expected = 1;
  for (const std::size_t d : order) {
    const N extent(shape[d]);
    if (extent == 1) continue;
    if (N(strides[d]) != expected) return false;
    expected = times(expected, extent);
  }
  return true;
}

template <Number N>
bool channels_last_as(const Shape& shape, const Ints& strides) {
  if (shape.size() == 4) return dense_as<N>(shape, strides, kChannelsLast);
  return shape.size() == 5 && dense_as<N>(shape, strides, kChannelsLast3d);
}

/// Row-major, of a layout with elements.
template <Number N>
bool row_major_as(const Shape& shape, const Ints& strides) {
  N expected = 1;
  for (std::size_t d = shape.size(); d-- > 0;) {
    const N extent(shape[d]);
    if (extent == 1) continue;
    if (N(strides[d]) != expected) return false;
    expected = times(expected, extent);
  }
  return true;
}

}  // namespace oriel::detail
