#include <algorithm>
#include <bit>

#include "backend/eigen/products/online_softmax.hpp"

namespace oriel::backend::eigen {

namespace {

// Blocks are cut at multiples of this many columns: whole panels at every level.
constexpr std::int64_t kPanel = 48;
static_assert(kOnlineBlock % kPanel == 0);

}  // namespace

WeightColumns::WeightColumns(const OnlinePlan& plan, std::span<void* const> arguments,
                             std::span<const graph::Scalar> parameters, int memory)
    : plan_(plan),
      weights_(*plan.weights, arguments, parameters, memory),
      bounds_(plan.parts.weights, parameters),
      hides_(bounds_.may_hide()),
      box_(plan.outer.size() + 1) {
  for (const SettledWeights& w : plan.settled) {
    settled_.push_back(
        std::make_unique<Program>(*w.plan, arguments, parameters, memory + 1 + static_cast<int>(settled_.size())));
  }
}

void WeightColumns::set_rows(std::int64_t first, std::int64_t rows) {
  // A range of points is a box if only the last loops vary: every loop after the first one whose ends differ runs in
  // full.
  std::int64_t low = first;
  std::int64_t high = first + rows - 1;
  for (std::size_t d = plan_.outer.size(); d-- > 0;) {
    const std::int64_t extent = plan_.outer[d].value();
    box_[d] = {low % extent, high % extent + 1};
    low /= extent;
    high /= extent;
  }
  for (std::size_t d = 0; d + 1 < plan_.outer.size(); ++d) {
    if (box_[d].end - box_[d].begin == 1) continue;
    for (std::size_t e = d + 1; e < plan_.outer.size(); ++e) box_[e] = {0, plan_.outer[e].value()};
    break;
  }
}

codegen::IndexRange WeightColumns::visible(std::int64_t column, std::int64_t end) {
  if (!hides_) return {column, end};
  const auto hides = [&](std::int64_t from) {
    box_.back() = {from, end};
    bounds_.look_at(box_);
    return bounds_.hidden(plan_.softmax.shifted);
  };
  if (hides(column)) return {column, column};
  std::int64_t shown = 0;  // panels before the first one from which on all panels are hidden
  for (std::int64_t least = 0, most = quotient_up(end - column, kPanel); least < most;) {
    const std::int64_t middle = (least + most) / 2;
    if (column + middle * kPanel < end && hides(column + middle * kPanel)) {
      most = middle;
    } else {
      least = middle + 1;
    }
    shown = most;
  }
  return {column, std::min(end, column + shown * kPanel)};
}

Worker* WeightColumns::settled(std::int64_t begin, std::int64_t end) {
  box_.back() = {begin, end};
  bounds_.look_at(box_);
  for (std::size_t i = 0; i < settled_.size(); ++i) {
    const std::vector<codegen::SettledChoices::Choice>& choices = plan_.settled[i].choices;
    const auto holds = [&](const auto& c) { return bounds_.always(c.condition, c.truth); };
    if (std::all_of(choices.begin(), choices.end(), holds)) return &settled_[i]->worker;
  }
  return nullptr;
}

std::array<WeightPiece, 2> WeightColumns::cut(const codegen::IndexRange& columns) {
  const auto [begin, end] = columns;
  if (settled_.empty()) return {WeightPiece{&weights_.worker, columns}, WeightPiece{}};
  if (Worker* whole = settled(begin, end)) return {WeightPiece{whole, columns}, WeightPiece{}};
  const std::int64_t panels = (end - begin - 1) / kPanel;
  for (const bool front : {true, false}) {
    // Every part of a settled box is settled, so the largest one is found by bisection.
    std::int64_t some = 0;
    Worker* worker = nullptr;
    for (std::int64_t step = std::bit_floor(static_cast<std::uint64_t>(panels)); step > 0; step /= 2) {
      if (some + step > panels) continue;
      const std::int64_t n = (some + step) * kPanel;
      Worker* w = front ? settled(begin, begin + n) : settled(end - n, end);
      if (w == nullptr) continue;
      worker = w;
      some += step;
    }
    if (worker == nullptr) continue;
    const std::int64_t middle = front ? begin + some * kPanel : end - some * kPanel;
    return {WeightPiece{front ? worker : &weights_.worker, {begin, middle}},
            WeightPiece{front ? &weights_.worker : worker, {middle, end}}};
  }
  return {WeightPiece{&weights_.worker, columns}, WeightPiece{}};
}

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
