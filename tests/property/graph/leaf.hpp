// Data for random programs, with the C++ text that makes it.
#pragma once

#include <cstdint>
#include <string>

#include "oriel/tensor.hpp"

namespace oriel::testing {

/// A tensor of pseudo-random data that `seed` fixes: small whole numbers and quarters, now and then a special one.
struct Leaf {
  Tensor tensor;
  std::string text;
};
Leaf make_leaf(DType dtype, const Shape& shape, std::uint32_t seed);

/// "{2, 3}"
std::string braces(const Ints& ints);

}  // namespace oriel::testing
