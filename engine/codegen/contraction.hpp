// Sums of products, recognised from the views alone: which loops each factor varies along.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "codegen/loop_program.hpp"

namespace oriel::codegen {

/// The contraction that `program` is, or nothing: what Form says of it (form.hpp), for whoever makes a Form. One is: a
/// single stage with inner loops or reductions, in it a single reduction, a sum, of an elementwise product of the sum's
/// own dtype (a product rounded or converted on its way is none), whose factors read nothing that is reduced; some
/// outer loop along which the left factor alone varies, or the right one. Outer loops before `batches` are batches
/// whatever varies along them.
std::optional<Contraction> find_contraction(const LoopProgram& program, std::size_t batches = 0);

/// What makes the left factor (or the right one), as a program without inner loops over the inner loops, then the batch
/// loops, then the rows (or columns). Values, arguments and constants have the numbers that they have in `program`.
LoopProgram factor_program(const LoopProgram& program, const Contraction& contraction, bool left);

/// What comes before and after the sum, as a program without inner loops over batches, rows and columns. It reads
/// `contraction.result`, which nothing in it makes.
LoopProgram epilogue_program(const LoopProgram& program, const Contraction& contraction);

/// "batch 1, 512 x 512 x 512": batches, rows, columns, depth.
std::string to_string(const Contraction& contraction);

}  // namespace oriel::codegen
