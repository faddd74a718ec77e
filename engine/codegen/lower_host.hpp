// A kernel that calls a function of host memory as a loop program.
#pragma once

#include <span>

#include "codegen/open_kernel.hpp"

namespace oriel::codegen {

/// Precondition: the kernel calls the host, and its result has elements.
OpenKernel lower_host(const schedule::Arena& arena, const schedule::KernelGraph& graph, schedule::KernelId kernel);
/// Adds everything that depends on numbers. `shapes`: of the operands, and of the result.
void close_host(LoweredKernel& kernel, std::span<const Shape> shapes);

}  // namespace oriel::codegen
