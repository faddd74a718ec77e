// How a program's accesses reach memory.
#pragma once

#include "backend/eigen/tile/plan.hpp"
#include "codegen/loop_program.hpp"

namespace oriel::backend::eigen {

/// Decides how an access that is walked by `walk` reads or writes memory. `overwritten` says that an output is stored
/// over its argument. `slack` and `own` are set for loads that may have to be so.
MemoryAccess make_memory_access(const codegen::LoopProgram& program, const isa::Table& table,
                                const codegen::Access& access, AccessWalker walk, bool store, bool overwritten);

}  // namespace oriel::backend::eigen
