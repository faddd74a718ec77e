// Estimated time of loop programs run tile by tile.
#pragma once

#include <cstddef>
#include <optional>

#include "codegen/loop_program.hpp"
#include "schedule/rates.hpp"

namespace oriel::backend {

/// Nanoseconds of one instruction for one point. `stage` is the stage that it belongs to; `inner` says if it is in the
/// body of the stage.
double instruction_cost(const codegen::LoopProgram& program, const codegen::Stage& stage, const codegen::Instr& in,
                        bool inner, const schedule::Rates& rates);

/// Nanoseconds of a stage's loops and of the instructions after them, over all outer points.
double stage_cost(const codegen::LoopProgram& program, const codegen::Stage& stage, const schedule::Rates& rates);

/// Nanoseconds of all stages, without the launch and the bytes moved.
double tile_cost(const codegen::LoopProgram& program, const schedule::Rates& rates);

/// The program with only one of its reductions: its input, and a row-major store of its results. Nothing if the input
/// needs an earlier reduction. The program serves estimates and is never run.
std::optional<codegen::LoopProgram> alone(const codegen::LoopProgram& program, std::size_t stage,
                                          std::size_t reduction);

/// A program of one reduction without the outer points that read only padding; nothing if there are no such points. It
/// serves estimates too.
std::optional<codegen::LoopProgram> without_padding(const codegen::LoopProgram& program);

}  // namespace oriel::backend
