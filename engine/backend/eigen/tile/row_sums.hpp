// For tiles that hold blocks of one row: sums whose elements are computed while they are added, and outer values of
// which one element suffices.
#pragma once

#include <functional>
#include <vector>

#include "backend/eigen/tile/plan.hpp"
#include "codegen/loop_program.hpp"

namespace oriel::backend::eigen {

/// What a reduction reads: its input, or the operands from which the elements of its input are computed on the fly.
struct RowSum {
  isa::RowFn row = nullptr;  // null: the reduction reads its input
  bool is_uniform = false;   // b is one number
  codegen::ValueId a = codegen::kNoValue;
  codegen::ValueId b = codegen::kNoValue;
};

/// What each reduction of the stage reads. With `blocks_of_a_row`, a product or square that only the reduction reads is
/// removed from the body. `one_number`: is a value the same along the whole row?
std::vector<RowSum> row_sums(const std::vector<codegen::Stage>& stages, const isa::Table& table, bool blocks_of_a_row,
                             codegen::Stage& stage, const std::function<bool(codegen::ValueId)>& one_number);

/// Marks the stage's broadcasts that need not be spread.
void find_uniform_values(StagePlan& stage, const std::vector<Chain>& chains);

}  // namespace oriel::backend::eigen
