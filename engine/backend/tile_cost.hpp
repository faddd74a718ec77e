// Estimated time of loop programs run tile by tile.
#pragma once

#include <cstddef>
#include <optional>

#include "codegen/loop_program.hpp"
#include "schedule/rates.hpp"

namespace oriel::backend {

/// Nanoseconds of one instruction for one point. `stage` has the loops that it runs in; `inner`: is it in its body?
double instruction_cost(const codegen::LoopProgram& program, const codegen::Stage& stage, const codegen::Instr& in,
                        bool inner, const schedule::Rates& rates);

/// Nanoseconds of a stage's loops, and of what is done behind them, over all outer points.
double stage_cost(const codegen::LoopProgram& program, const codegen::Stage& stage, const schedule::Rates& rates);

/// Of all stages; neither launch nor bytes.
double tile_cost(const codegen::LoopProgram& program, const schedule::Rates& rates);

/// The program with one of its reductions alone: what it reduces, and a store of its results, row-major. Nothing where
/// that needs what is reduced before it. It is for estimates: it is never run.
std::optional<codegen::LoopProgram> alone(const codegen::LoopProgram& program, std::size_t stage,
                                          std::size_t reduction);

/// A program of one reduction without the outer points for which all that it reads is padding; nothing where there are
/// none. For estimates too.
std::optional<codegen::LoopProgram> without_padding(const codegen::LoopProgram& program);

}  // namespace oriel::backend
