// Sums of products, which the schedule names (Reduction::source): their axes by role, and the programs of their
// factors.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "codegen/loop_program.hpp"

namespace oriel::codegen {

/// The only reduction of a stage as a contraction, for the functions that make a Form (form.hpp); nullopt unless along
/// some loop only one of its factors changes. The first `batches` outer loops are batches in any case. Stages count
/// within their part.
std::optional<Contraction> contraction_of(const LoopProgram& program, std::size_t stage, std::size_t batches = 0);

/// The program that computes the left factor (or the right one). It has no inner loops; its outer loops are the inner
/// loops of `program`, then the batch loops, then the rows (or columns). Values, arguments and constants have the
/// numbers that they have in `program`.
LoopProgram factor_program(const LoopProgram& program, const Contraction& contraction, bool left);

/// The instructions before and after the sum, as a program over batches, rows and columns without inner loops. It reads
/// `contraction.result`, which it does not compute.
LoopProgram epilogue_program(const LoopProgram& program, const Contraction& contraction);

/// "batch 1, 512 x 512 x 512": batches, rows, columns, depth.
std::string to_string(const Contraction& contraction);

}  // namespace oriel::codegen
