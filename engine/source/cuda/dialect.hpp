// CUDA C++, as nvcc, NVRTC and clang take it. There is no driver for it here: sources are rendered, not run.
#pragma once

#include "source/dialect.hpp"

namespace oriel::source::cuda {

/// Grids have as many items as OpenCL's: as many blocks as items divided by the group's. `Rendered::kept_bytes`, each
/// rounded up to 16, are the launch's bytes of dynamic shared memory. Build with -fmad=false, so that a product and a
/// sum are two roundings where they are written as two.
const ItemDialect& dialect();

}  // namespace oriel::source::cuda
