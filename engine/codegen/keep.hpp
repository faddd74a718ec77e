// What a row's earlier stage has computed, read by a later one: softmax evaluates exp once an element.
#pragma once

#include <vector>

#include "codegen/loop_program.hpp"

namespace oriel::codegen {

/// The values that live in one stage's body and are read in another's: kept for the row, an element an inner point.
/// Ascending.
std::vector<ValueId> kept_values(const LoopProgram& program);

/// False if keep_rows would change nothing, whatever a row may keep: the question costs less than a copy of the
/// program.
bool may_keep_rows(const LoopProgram& program);

/// Lets later stages read what an earlier one with the same inner loops computes from the same operands, where
/// evaluating it again would cost more than keeping it: rows of at most `row_bytes` in all, inner points next to each
/// other in a tile, and enough outer points that threads need not share a row. Returns whether it changed anything.
bool keep_rows(LoopProgram& program, std::int64_t row_bytes);

}  // namespace oriel::codegen
