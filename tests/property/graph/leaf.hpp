// Data for random programs, with the C++ text that makes it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "callers_memory.hpp"
#include "oriel/tensor.hpp"

namespace oriel::testing {

/// A tensor of pseudo-random data that `seed` fixes: small whole numbers and quarters, now and then a special one.
/// A quarter of the leaves lie in page-aligned memory of the caller and an eighth in unaligned memory of the caller;
/// half of these are borrowed and half adopted. With `in_callers_memory`, all leaves lie there.
struct Leaf {
  Tensor tensor;
  std::string text;
  std::shared_ptr<CallersMemory> memory = nullptr;  // null if the tensor has memory of its own
};
Leaf make_leaf(DType dtype, const Shape& shape, std::uint32_t seed, bool in_callers_memory = false);

/// C++ code of the function `in_callers_memory` that the texts of leaves call.
extern const char* const kInCallersMemory;

/// "{2, 3}"
std::string braces(const Ints& ints);

}  // namespace oriel::testing
