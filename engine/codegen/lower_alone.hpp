// Programs that sort or scan: they have no instructions, and run alone.
#pragma once

#include "codegen/lower.hpp"

namespace oriel::codegen {

/// Precondition: the kernel sorts or scans, and its root has elements.
LoweredKernel lower_alone(const schedule::Arena& arena, const schedule::KernelGraph& graph, schedule::KernelId kernel);

/// Sets everything that follows from the loops of such a program, in which both arguments lie row-major: rows, then the
/// elements of a row, then those of a line. `loops` may be symbols.
void set_loops(LoopProgram& program, const Shape& loops);

}  // namespace oriel::codegen
