// CUDA C++ for nvcc, NVRTC and clang. Sources are rendered, but there is no driver here that runs them.
#pragma once

#include "source/dialect.hpp"

namespace oriel::source::cuda {

/// A grid has as many items as in OpenCL, so the number of blocks is the number of items divided by the size of a
/// group. The launch's bytes of dynamic shared memory are the sum of `Rendered::kept_bytes`, each rounded up to 16.
/// Build with -fmad=false: a product and a sum that are written as two operations must be rounded twice.
const ItemDialect& dialect();

}  // namespace oriel::source::cuda
