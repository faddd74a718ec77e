// A program that sorts as source.
#pragma once

#include "source/cpp/loops_source.hpp"

namespace oriel::source::cpp {

/// std::sort over the keys of each row, which are made in the result's memory; it keeps nothing. The same elements and
/// positions as SortPlan's. `symbolic`: as in LoopsForm.
LoopsSource render_sort(const codegen::LoopProgram& program, Keep keep, const SymbolicSizes* symbolic = nullptr);

}  // namespace oriel::source::cpp
