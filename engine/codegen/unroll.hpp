// Short reductions as instructions, so that the outer points run along the registers.
#pragma once

#include <optional>

#include "codegen/loop_program.hpp"

namespace oriel::codegen {

/// The most inner points of a reduction that is unrolled.
inline constexpr std::int64_t kMostUnrolled = 16;

/// The program without inner loops, if it has one reduction stage of few inner points, which reads elements that
/// several points need (pairwise distances), or walks short rows in several stages that do not fill registers (softmax
/// of 10, the position of the least of 16). A row of such a reduction is shorter than a register block, but
/// neighbouring points fill one. The results keep their bits: the terms are combined in the order of a reduction.
std::optional<LoopProgram> unrolled(const LoopProgram& program);
/// Should a compiler build the unrolled program? It does better row by row if lines have few points and sums more than
/// a few terms. Precondition: the program is unrolled.
bool unrolled_for_compilers(const LoopProgram& program);

}  // namespace oriel::codegen
