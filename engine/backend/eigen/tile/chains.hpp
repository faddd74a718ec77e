// Chains of operations on one float dtype, run in one pass over their operands: their intermediate values never leave
// the processor's registers.
#pragma once

#include <functional>
#include <vector>

#include "backend/eigen/isa/table.hpp"
#include "backend/eigen/tile/plan.hpp"
#include "codegen/loop_program.hpp"

namespace oriel::backend::eigen {

/// The program's stages with the operations of each chain next to each other, after everything that they read.
/// Operations whose result only the next one reads are marked. `wanted` stays a value of its own.
std::vector<codegen::Stage> chained_stages(const codegen::LoopProgram& program, const isa::Table& table,
                                           codegen::ValueId wanted);

/// Joins the steps of marked operations if they still follow each other: to the function of a pair, if the table has
/// it, or to a chain. `made` has the instruction of each step. `number` says which registers hold one number in all
/// elements.
void join_chains(Plan& plan, std::vector<TileStep>& steps, const std::vector<const codegen::Instr*>& made,
                 const std::function<bool(Slot)>& number);

}  // namespace oriel::backend::eigen
