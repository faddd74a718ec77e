// What a row's earlier stage has computed, read by a later one: softmax evaluates exp once an element.
#pragma once

#include <vector>

#include "codegen/loop_program.hpp"

namespace oriel::codegen {

/// The values that one stage's body computes and another's reads, ascending. A row of each is stored, with one element
/// for each inner point.
std::vector<ValueId> kept_values(const LoopProgram& program);

/// False if keep_rows would change nothing, for any `row_bytes`. Asking costs less than copying the program.
bool may_keep_rows(const LoopProgram& program);

/// Stores values of a stage for the row, so that later stages with the same inner loops load them instead of computing
/// them again, if that costs less. The rows take at most `row_bytes` in all. Inner points must be adjacent in a tile,
/// and there must be enough outer points that threads need not share a row. Returns whether it changed anything.
bool keep_rows(LoopProgram& program, std::int64_t row_bytes);

}  // namespace oriel::codegen
