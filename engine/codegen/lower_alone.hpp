// Programs that sort, scan, scatter or call the host: they have no instructions, and run alone.
#pragma once

#include <span>

#include "codegen/lower.hpp"

namespace oriel::codegen {

/// Precondition: the kernel is alone, and its root has elements.
LoweredKernel lower_alone(const schedule::Arena& arena, const schedule::KernelGraph& graph, schedule::KernelId kernel);

/// Sets everything that follows from the shapes of the arguments of such a program. Arguments are row-major, and sizes
/// may be symbols. Shapes are (rows, elements of a row) for a sort, and (rows, entries, elements of a line) for a scan
/// and for the result of a scatter. A scatter's positions and elements have keys in place of entries; an argument that
/// is one number has no axes. A host function has the shapes of its operands.
void set_shapes(LoopProgram& program, std::span<const Shape> shapes);

}  // namespace oriel::codegen
