// Chains of arithmetic on one float dtype, run in one pass over their operands: their intermediate values never leave
// the processor's registers.
#pragma once

#include <functional>
#include <vector>

#include "backend/eigen/isa/table.hpp"
#include "backend/eigen/tile/plan.hpp"
#include "codegen/loop_program.hpp"

namespace oriel::backend::eigen {

/// How often instructions and reductions read each of `values` values. `wanted` is read from outside. It counts as two
/// more readers, so it is never an intermediate value of a chain or pair.
std::vector<int> count_readers(const std::vector<codegen::Stage>& stages, std::size_t values, codegen::ValueId wanted);

/// Puts the operations of each chain of three or more operations next to each other, after everything that they read.
/// Marks the operations whose result only the next one reads. `readers`: the result of count_readers.
void order_chains(std::vector<codegen::Stage>& stages, const std::vector<int>& readers, const isa::Table& table);

/// Is the instruction marked so that the next operation of its chain takes its result?
bool in_chain(const codegen::Instr& in) noexcept;

/// Joins the steps of marked operations if they still follow each other. `made` has the instruction of each step.
/// `number` says which registers hold one number in all elements.
void join_chains(Plan& plan, std::vector<TileStep>& steps, const std::vector<const codegen::Instr*>& made,
                 const std::function<bool(Slot)>& number);

}  // namespace oriel::backend::eigen
