// Chains of arithmetic on one float dtype, run in one pass over their operands: their intermediate values never leave
// the processor's registers.
#pragma once

#include <functional>
#include <vector>

#include "backend/eigen/isa/table.hpp"
#include "backend/eigen/plan.hpp"
#include "codegen/loop_program.hpp"

namespace oriel::backend::eigen {

/// Puts the operations of each chain of three or more next to each other, after everything that they read, and marks
/// those whose result the next one alone reads. `wanted` is read from outside.
void order_chains(std::vector<codegen::Stage>& stages, std::size_t values, const isa::Table& table,
                  codegen::ValueId wanted);

/// Is the instruction marked as one whose result the next operation of its chain takes?
bool in_chain(const codegen::Instr& in) noexcept;

/// Joins the steps of such operations where they still follow each other. `made` has the instruction of each step,
/// `number` says which registers hold one number in all their elements.
void join_chains(Plan& plan, std::vector<Step>& steps, const std::vector<const codegen::Instr*>& made,
                 const std::function<bool(Slot)>& number);

}  // namespace oriel::backend::eigen
