// Elements that tell their places.
#pragma once

#include "oriel/tensor.hpp"

namespace oriel::test {

/// first, first + 1, ... in float32, in memory.
inline Tensor counted(const Shape& shape, float first = 0) {
  return Tensor::generate(shape, [&](auto) { return first++; });
}

}  // namespace oriel::test
