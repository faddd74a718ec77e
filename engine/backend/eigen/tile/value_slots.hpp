// The registers of values that live longer than one pass of a stage's loops.
#pragma once

#include <cstdint>
#include <vector>

#include "backend/eigen/tile/plan_tables.hpp"

namespace oriel::backend::eigen {

/// By value of the program.
struct ValueSlots {
  std::vector<Slot> slot;      // kNoSlot for values that only the loops of one stage use
  std::vector<bool> outer;     // computed once for each outer point
  std::vector<bool> pinned;    // in a register that is filled once
  std::vector<bool> kept;      // read again by a later stage
  std::vector<bool> repeated;  // loaded once: the same in every block
};

/// Gives registers to pinned, outer and kept values, which stay until the values' last uses. Expects the blocks and
/// stages of `plan`; `tile` is the length of the loops' registers. `frame`: null for a plan of its own.
ValueSlots place_values(const codegen::LoopProgram& program, const std::vector<codegen::Stage>& stages,
                        const TileFrame* frame, std::int64_t tile, PlanTables& tables, Plan& plan);

}  // namespace oriel::backend::eigen
