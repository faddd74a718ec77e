#include "backend/eigen/products/online_plan.hpp"

#include <algorithm>

namespace oriel::backend::eigen {
namespace {

// Elements in a tile of weights.
constexpr std::int64_t kTile = 4 * kOnlineBlock;

}  // namespace

std::shared_ptr<const OnlinePlan> plan_online(const codegen::LoopProgram& program, const isa::Table& table) {
  auto plan = std::make_shared<OnlinePlan>();
  plan->softmax = *codegen::online_softmax_in(program.form);
  // Rows whose distance is their length are contiguous.
  const std::int64_t block = std::min(kOnlineBlock, plan->softmax.columns);
  plan->parts = codegen::online_parts(program, block);
  plan->outer = program.outer;
  const std::vector<std::optional<codegen::Contraction>>& part = codegen::shared_rows_in(program.form)->products;
  if (!part.front() || !part.back()) return nullptr;
  plan->scores = plan_part(plan->parts.scores, *part.front(), table);
  const std::shared_ptr<const ContractionPlan> products = plan_part(plan->parts.products, *part.back(), table);
  if (plan->scores == nullptr || products == nullptr || !products->left.memory || products->left.memory->step != 1 ||
      !products->product->loose || products->shape.dtype != plan->softmax.dtype) {
    return nullptr;
  }
  auto blocked = std::make_shared<ContractionPlan>(*products);
  blocked->left.direct = true;
  blocked->depth_block = kOnlineBlock / 2;
  plan->products = std::move(blocked);
  plan->block = block;
  plan->rows_together = std::clamp<std::int64_t>(kTile / plan->block, 1, isa::kPacket);
  plan->log_bytes = log_bytes_of(plan->softmax.dtype);
  plan->weights = make_tile_plan(plan->parts.weights, table, plan->block, plan->rows_together);
  for (const codegen::SettledChoices& s : codegen::settle_choices(plan->parts.weights)) {
    if (plan->settled.size() == kSettledPrograms) break;
    plan->settled.push_back({s.choices, make_tile_plan(s.program, table, plan->block, plan->rows_together)});
  }
  return plan;
}

}  // namespace oriel::backend::eigen
