// Sums whose elements are computed while they are added, and outer values of which one element is enough: for tiles
// that hold blocks of one row.
#pragma once

#include <functional>
#include <vector>

#include "backend/eigen/tile/plan.hpp"
#include "codegen/loop_program.hpp"

namespace oriel::backend::eigen {

/// What a reduction reads: its input, or the operands that the elements of its input are computed from meanwhile.
struct RowSum {
  isa::RowFn row = nullptr;  // null for its input
  bool number = false;       // b is one number
  codegen::ValueId a = codegen::kNoValue;
  codegen::ValueId b = codegen::kNoValue;
};

/// What each of the stage's reductions reads. With `blocks_of_a_row`, a product or square that the reduction alone
/// reads leaves the body. `one_number`: is a value the same all along a row?
std::vector<RowSum> row_sums(const std::vector<codegen::Stage>& stages, const isa::Table& table, bool blocks_of_a_row,
                             codegen::Stage& stage, const std::function<bool(codegen::ValueId)>& one_number);

/// Says of the stage's broadcasts which need not be spread.
void find_numbers(StagePlan& stage, const std::vector<Chain>& chains);

}  // namespace oriel::backend::eigen
