// A kernel that sorts as a loop program.
#pragma once

#include "codegen/lower.hpp"

namespace oriel::codegen {

/// Precondition: the kernel sorts, and has elements. Its rows are those of the last axis.
LoweredKernel lower_sort(const schedule::Arena& arena, const schedule::KernelGraph& graph, schedule::KernelId kernel);

}  // namespace oriel::codegen
