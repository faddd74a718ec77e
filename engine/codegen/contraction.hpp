// Sums of products, recognised from the views alone: which loops each factor varies along.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "codegen/loop_program.hpp"

namespace oriel::codegen {

/// Recognises a contraction, for the functions that make a Form (form.hpp); nullopt if `program` is none. A contraction
/// has a single stage with inner loops or reductions. Its only reduction is a sum of an elementwise product of the
/// sum's own dtype; a product that is rounded or converted before the sum does not count. The factors read no result of
/// a reduction. Along some outer loop only one of the factors varies. The first `batches` outer loops are batches in
/// any case.
std::optional<Contraction> find_contraction(const LoopProgram& program, std::size_t batches = 0);

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
