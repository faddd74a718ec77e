// Programs that sort, scan or scatter as C++.
#pragma once

#include "source/cpp/loops_source.hpp"

namespace oriel::source::cpp {

/// Takes the same arguments and gives the same bits as the tile machine. `symbolic`: as in LoopsForm. Positions outside
/// are left out, also by a program that checks them.
LoopsSource render_alone(const codegen::LoopProgram& program, Keep keep, const SymbolicSizes* symbolic = nullptr);

}  // namespace oriel::source::cpp
