// Chains of arithmetic on one float dtype, run in one pass over their operands: their intermediate values never leave
// the processor's registers.
#pragma once

#include <functional>
#include <vector>

#include "backend/eigen/isa/table.hpp"
#include "backend/eigen/tile/plan.hpp"
#include "codegen/loop_program.hpp"

namespace oriel::backend::eigen {

/// How often instructions and reductions read each of `values` values. `wanted` is read from outside: it counts as two
/// more readers, so that it ends no chain and no pair.
std::vector<int> count_readers(const std::vector<codegen::Stage>& stages, std::size_t values, codegen::ValueId wanted);

/// Puts the operations of each chain of three or more next to each other, after everything that they read, and marks
/// those whose result the next one alone reads. `readers`: count_readers of the stages.
void order_chains(std::vector<codegen::Stage>& stages, const std::vector<int>& readers, const isa::Table& table);

/// Is the instruction marked as one whose result the next operation of its chain takes?
bool in_chain(const codegen::Instr& in) noexcept;

/// Joins the steps of such operations where they still follow each other. `made` has the instruction of each step,
/// `number` says which registers hold one number in all their elements.
void join_chains(Plan& plan, std::vector<TileStep>& steps, const std::vector<const codegen::Instr*>& made,
                 const std::function<bool(Slot)>& number);

}  // namespace oriel::backend::eigen
