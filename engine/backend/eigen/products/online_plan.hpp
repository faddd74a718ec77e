// What a softmax between two products needs at run time, if it runs with a running maximum and sum
// (codegen/online_softmax.hpp).
#pragma once

#include <memory>
#include <vector>

#include "backend/eigen/products/contraction_plan.hpp"
#include "backend/eigen/tile/tiles.hpp"
#include "codegen/bounds.hpp"
#include "codegen/online_softmax.hpp"

namespace oriel::backend::eigen {

/// The most programs with settled choices that a plan holds.
inline constexpr int kSettledPrograms = 2;

/// The weights after choices by position are settled. In blocks of columns that all rows see, no mask is computed.
struct SettledWeights {
  std::vector<codegen::SettledChoices::Choice> choices;
  std::shared_ptr<const Plan> plan;
};

struct OnlinePlan {
  codegen::OnlineSoftmax softmax;
  codegen::OnlineParts parts;
  std::shared_ptr<const ContractionPlan> scores;
  std::shared_ptr<const ContractionPlan> products;
  std::shared_ptr<const Plan> weights;
  std::vector<SettledWeights> settled;
  Ints outer;
  std::int64_t block = 1;          // columns at a time
  std::int64_t rows_together = 1;  // rows of weights that a tile holds together
  int log_bytes = 2;
};

/// Columns of scores in a block; whole panels at every level.
inline constexpr std::int64_t kOnlineBlock = 528;

/// Null if the products are too small for blocks. Precondition: `online_softmax_in(program.form)`.
std::shared_ptr<const OnlinePlan> plan_online(const codegen::LoopProgram& program, const isa::Table& table);

}  // namespace oriel::backend::eigen
