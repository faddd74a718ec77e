// Programs that sort, scan, scatter or call the host: they have no instructions, and run alone.
#pragma once

#include <span>

#include "codegen/lower.hpp"

namespace oriel::codegen {

/// Precondition: the kernel is alone, and its root has elements.
LoweredKernel lower_alone(const schedule::Arena& arena, const schedule::KernelGraph& graph, schedule::KernelId kernel);

/// Sets everything that follows from the shapes of the arguments of such a program, which lie row-major. Of a sort they
/// are rows by the elements of a row; of a scan, and of the result of a scatter, rows by entries by the elements of a
/// line (a scatter's positions and elements have keys in place of entries, and what is one number has no axes); a host
/// function has its operands' own. They may be symbols.
void set_shapes(LoopProgram& program, std::span<const Shape> shapes);

}  // namespace oriel::codegen
