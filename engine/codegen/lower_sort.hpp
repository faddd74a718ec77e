// A kernel that sorts as a loop program.
#pragma once

#include "codegen/open_kernel.hpp"

namespace oriel::codegen {

/// Precondition: the kernel sorts, and has elements.
OpenKernel lower_sort(const schedule::Arena& arena, const schedule::KernelGraph& graph, schedule::KernelId kernel);
/// Adds everything that depends on numbers. The kernel sorts the rows of a value of this shape, those of its last axis.
void close_sort(LoweredKernel& kernel, const Shape& shape);

}  // namespace oriel::codegen
