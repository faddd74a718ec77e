// A program that scans as source.
#pragma once

#include "source/cpp/kernel_sizes.hpp"
#include "source/cpp/loops_source.hpp"

namespace oriel::source::cpp {

/// Takes the same arguments and gives the same bits as the tile machine. `symbolic`: as in LoopsForm.
LoopsSource render_scan(const codegen::LoopProgram& program, Keep keep, const SymbolicSizes* symbolic = nullptr);

}  // namespace oriel::source::cpp
