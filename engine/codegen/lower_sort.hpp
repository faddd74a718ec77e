// A kernel that sorts as a loop program, and what it shares with other kernels of one op.
#pragma once

#include "codegen/open_kernel.hpp"

namespace oriel::codegen {

/// Precondition: the kernel sorts, and has elements.
OpenKernel lower_sort(const schedule::Arena& arena, const schedule::KernelGraph& graph, schedule::KernelId kernel);
/// Adds everything that depends on numbers. The kernel sorts the rows of a value of this shape, those of its last axis.
void close_sort(LoweredKernel& kernel, const Shape& shape);

/// The arguments of a kernel that holds its root alone: it reads the root's sources and writes the root.
OpenKernel lower_alone(const schedule::Arena& arena, const schedule::KernelGraph& graph, schedule::KernelId kernel);
/// Gives both arguments this shape, and accesses over `loops`, of which the first is the outer one.
void close_alone(LoweredKernel& kernel, const Shape& shape, const Shape& loops);

}  // namespace oriel::codegen
