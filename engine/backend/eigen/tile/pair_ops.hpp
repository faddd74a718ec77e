// Pairs of operations that the tile machine does in one pass over their operands.
#pragma once

#include <vector>

#include "backend/eigen/isa/table.hpp"
#include "codegen/loop_program.hpp"

namespace oriel::backend::eigen {

/// The program's stages with chains in order (chains.hpp). If the table has a pair for a float32 operation and the only
/// operation that reads it, the two become one instruction: the first one's operands come first, and `aux` selects the
/// pair. `wanted` stays a value of its own.
std::vector<codegen::Stage> pair_ops(const codegen::LoopProgram& program, const isa::Table& table,
                                     codegen::ValueId wanted);

/// The function of an instruction that pair_ops joined; null for other instructions.
isa::ElementFn paired(const codegen::Instr& in, const isa::Table& table);
/// The same if each operand except `a` is one number; null if the table has no such function.
isa::ElementFn with_numbers(const codegen::Instr& in, const isa::Table& table);

}  // namespace oriel::backend::eigen
