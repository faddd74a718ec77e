// A kernel that scans as a loop program.
#pragma once

#include <span>

#include "codegen/open_kernel.hpp"

namespace oriel::codegen {

/// Precondition: the kernel scans, and has elements.
OpenKernel lower_scan(const schedule::Arena& arena, const schedule::KernelGraph& graph, schedule::KernelId kernel);
/// Adds everything that depends on numbers. The arguments have these shapes.
void close_scan(LoweredKernel& kernel, std::span<const Shape> shapes);

}  // namespace oriel::codegen
