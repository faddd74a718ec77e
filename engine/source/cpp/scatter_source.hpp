// Programs that scatter as C++.
#pragma once

#include "source/cpp/kernel_sizes.hpp"
#include "source/cpp/loops_source.hpp"

namespace oriel::source::cpp {

/// With `symbolic`, the sizes are elements of an array. Positions outside are left out, also by a program that checks
/// them.
LoopsSource render_scatter(const codegen::LoopProgram& program, Keep keep, const SymbolicSizes* symbolic = nullptr);

}  // namespace oriel::source::cpp
