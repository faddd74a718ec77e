// The elements of a node in memory as numbers, and walks over the indices of a shape.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/node.hpp"
#include "reference/number.hpp"

namespace oriel::reference {

using Index = std::vector<std::int64_t>;
using Numbers = std::vector<Number>;

inline std::int64_t extent(const Shape& shape, std::size_t d) { return shape[d].value(); }

inline std::int64_t count(const Shape& shape) {
  std::int64_t n = 1;
  for (std::size_t d = 0; d < shape.size(); ++d) n *= extent(shape, d);
  return n;
}

inline Index plain(const Shape& shape) {
  Index extents;
  for (std::size_t d = 0; d < shape.size(); ++d) extents.push_back(extent(shape, d));
  return extents;
}

/// What a step along each axis adds to a row-major position.
inline Index steps(const Shape& shape) {
  Index out(shape.size(), 1);
  for (std::size_t d = out.size(); d-- > 1;) out[d - 1] = out[d] * extent(shape, d);
  return out;
}

/// Calls f(k, index) for each index of a shape in row-major order.
template <class F>
void each_index(const Shape& shape, F&& f) {
  const Index extents = plain(shape);
  const std::int64_t n = count(shape);
  Index index(extents.size(), 0);
  for (std::int64_t k = 0; k < n; ++k) {
    f(k, index);
    for (std::size_t d = index.size(); d-- > 0;) {
      if (++index[d] < extents[d]) break;
      index[d] = 0;
    }
  }
}

/// n elements that lie one after the other.
Numbers read_all(DType dtype, const void* data, std::int64_t n);
/// The elements of a node that has this buffer, row by row.
Numbers read_buffer(const graph::Node& node, const mem::Buffer& buffer);

}  // namespace oriel::reference
