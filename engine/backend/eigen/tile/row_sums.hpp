// Sums whose elements are computed while they are added, and outer values of which one element for each row suffices.
#pragma once

#include <functional>
#include <vector>

#include "backend/eigen/tile/plan.hpp"
#include "codegen/loop_program.hpp"

namespace oriel::backend::eigen {

/// What a tile holds.
enum class SummedRows : std::uint8_t {
  None,     // parts of rows
  One,      // whole blocks of one row
  Several,  // several whole rows
  Given,    // several rows of a caller that reduces them, one reduction a stage
  Columns,  // a part of several columns, row by row
};

/// What a reduction reads: its input, or the operands from which the elements of its input are computed on the fly.
struct RowSum {
  isa::SumFns fns;            // null: the reduction reads its input
  isa::MomentFns moments;     // not null: its pass also computes the sum of squares of reduction `squares`
  std::int32_t squares = -1;  // of the stage
  bool computed = false;      // by the pass of another reduction
  bool is_uniform = false;    // b is one number for each outer point
  codegen::ValueId a = codegen::kNoValue;
  codegen::ValueId b = codegen::kNoValue;
};

/// What each reduction of the stage reads. Conversions to float64, products and squares that only the reduction reads
/// are removed from the body where the table has their sum. `outer`: is a value the same along all loops of the stage?
std::vector<RowSum> row_sums(const std::vector<codegen::Stage>& stages, const isa::Table& table, SummedRows rows,
                             codegen::Stage& stage, const std::function<bool(codegen::ValueId)>& outer);

/// Marks the stage's broadcasts that need not be spread.
void find_uniform_values(StagePlan& stage, const std::vector<Chain>& chains);

}  // namespace oriel::backend::eigen
