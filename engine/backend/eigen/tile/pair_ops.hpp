// Operations of a program that the tile machine does in one pass over their operands.
#pragma once

#include <vector>

#include "backend/eigen/isa/table.hpp"
#include "codegen/loop_program.hpp"

namespace oriel::backend::eigen {

/// The program's stages, chains in order (chains.hpp), with other float32 operations joined to the one operation that
/// reads them, where the table has such a pair: its operands come first, and `aux` says which pair. `wanted` stays a
/// value of its own.
std::vector<codegen::Stage> pair_ops(const codegen::LoopProgram& program, const isa::Table& table,
                                     codegen::ValueId wanted);

/// The function of an instruction that pair_ops joined; null for all others.
isa::ElementFn paired(const codegen::Instr& in, const isa::Table& table);
/// The same where all its operands but `a` are one number each; null where the table has none.
isa::ElementFn with_numbers(const codegen::Instr& in, const isa::Table& table);

}  // namespace oriel::backend::eigen
