// A kernel that sorts as a loop program, and what it shares with other kernels of one op.
#pragma once

#include <span>

#include "codegen/open_kernel.hpp"

namespace oriel::codegen {

/// Precondition: the kernel sorts, and has elements.
OpenKernel lower_sort(const schedule::Arena& arena, const schedule::KernelGraph& graph, schedule::KernelId kernel);
/// Adds everything that depends on numbers. The kernel sorts rows along the last axis of these shapes.
void close_sort(LoweredKernel& kernel, std::span<const Shape> shapes);

/// The arguments of a kernel that holds its root alone: it reads the root's sources and writes the root.
OpenKernel lower_alone(const schedule::Arena& arena, const schedule::KernelGraph& graph, schedule::KernelId kernel);
/// Gives the arguments these shapes and accesses over all elements. `rows`: the points of the outer loop.
void close_alone(LoweredKernel& kernel, std::span<const Shape> shapes, std::int64_t rows);

}  // namespace oriel::codegen
