// Sums of products, recognised from the views alone: which loops each factor varies along.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "codegen/loop_program.hpp"

namespace oriel::codegen {

/// The only loops of a program, where they sum a product of two factors that vary along different outer loops:
///
///   result[b, i, j] = sum over r of left[b, i, r] * right[b, j, r]
///
/// An outer loop is a row where the left factor alone varies along it, a column where the right one does, a batch where
/// both or neither do. Each list names outer loops in their order. Left and right are chosen so that the last loop that
/// is not a batch is a column: the results' memory is walked along columns.
struct Contraction {
  std::size_t stage = 0;
  DType dtype = DType::float32;
  ValueId left = kNoValue;
  ValueId right = kNoValue;
  ValueId result = kNoValue;
  std::vector<std::size_t> batch_loops;
  std::vector<std::size_t> row_loops;
  std::vector<std::size_t> column_loops;
  std::int64_t batches = 1;
  std::int64_t rows = 1;
  std::int64_t columns = 1;
  std::int64_t depth = 1;  // points that are summed
};

/// The contraction that `program` is, or nothing. One is: a single stage with inner loops or reductions, in it a single
/// reduction, a sum, of an elementwise product of the sum's own dtype (a product rounded or converted on its way is
/// none), whose factors read nothing that is reduced; some outer loop along which the left factor alone varies, or the
/// right one. Outer loops before `batches` are batches whatever varies along them.
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
