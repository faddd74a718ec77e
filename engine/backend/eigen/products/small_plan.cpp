#include "backend/eigen/products/small_plan.hpp"

#include <cstdlib>
#include <utility>

#include "backend/eigen/tile/tiles.hpp"

namespace oriel::backend::eigen {

using codegen::Contraction;
using codegen::LoopProgram;
using codegen::Matrices;

namespace {

// With fewer matrices than half of the lanes, the tile machine is as fast.
constexpr std::int64_t kLeastMatrices = isa::kSmallLanes / 2;
// The most elements of a factor, or of the results, so that sixteen of each stay in the second-level cache.
constexpr std::int64_t kMostElements = 1024;

/// The same matrices with as few batch loops as possible.
Matrices with_joined_loops(const Matrices& m) {
  Matrices out = m;
  out.extents.clear();
  out.strides.clear();
  for (std::size_t d = 0; d < m.extents.size(); ++d) {
    if (m.extents[d] == 1) continue;
    if (!out.extents.empty() && out.strides.back() == m.extents[d] * m.strides[d]) {
      out.extents.back() *= m.extents[d];
      out.strides.back() = m.strides[d];
    } else {
      out.extents.push_back(m.extents[d]);
      out.strides.push_back(m.strides[d]);
    }
  }
  if (out.extents.empty()) {
    out.extents.push_back(1);
    out.strides.push_back(0);
  }
  return out;
}

/// `outer` times `inner` elements, whose strides are these.
LaneLayout lane_layout(const Matrices& m, std::int64_t outer, std::int64_t outer_stride, std::int64_t inner,
                       std::int64_t inner_stride) {
  if (inner == 1) return {with_joined_loops(m), 1, 0, outer, outer_stride};
  if (outer == 1 || outer_stride == inner * inner_stride)
    return {with_joined_loops(m), 1, 0, outer * inner, inner_stride};
  return {with_joined_loops(m), outer, outer_stride, inner, inner_stride};
}

/// A factor's layout. `point` and `step` receive how many rows of lanes lie between neighbouring points and depths.
LaneLayout factor_layout(const codegen::FactorForm& factor, std::int64_t depth, std::int64_t& point,
                         std::int64_t& step) {
  const Matrices& m = *factor.memory;
  const bool along_depth = std::abs(m.step) <= std::abs(m.row) || factor.points == 1;
  if (along_depth && depth > 1) {
    point = depth;
    step = 1;
    return lane_layout(m, factor.points, m.row, depth, m.step);
  }
  point = 1;
  step = factor.points;
  return lane_layout(m, depth, m.step, factor.points, m.row);
}

void plan_small_results(const LoopProgram& program, SmallPlan& plan) {
  const Contraction& c = plan.shape;
  const LoopProgram after = codegen::epilogue_program(program, c);
  const std::size_t rows = c.batch_loops.size();
  const std::size_t columns = rows + c.row_loops.size();
  const ResultsPlan made = plan_results(after, c.result, c.dtype, columns, kSmallResultTile, *plan.table);
  plan.epilogue = made.epilogue;
  if (made.stored == nullptr) return;
  const codegen::Access& access = *made.stored;
  const auto memory = codegen::matrices_of(access, {0, rows}, {rows, columns}, {columns, access.loops()});
  if (memory) plan.results = lane_layout(*memory, c.rows, memory->row, c.columns, memory->step);
}

/// Are these successive matrices of so many elements, each without gaps?
bool successive(const LaneLayout& m, std::int64_t elements) {
  return m.pieces == 1 && m.elements == elements && m.unit == 1 && m.memory.extents.size() == 1 &&
         m.memory.strides[0] == elements;
}

isa::InPlaceFn in_place(const SmallPlan& plan) {
  const Contraction& c = plan.shape;
  const isa::SmallProducts& s = plan.strides;
  if (!is_floating(c.dtype) || c.columns != c.depth || c.depth > isa::kMostInPlace) return nullptr;
  if (!successive(plan.left, c.rows * c.depth) || !successive(plan.right, c.columns * c.depth)) return nullptr;
  if (plan.results && !successive(*plan.results, c.rows * c.columns)) return nullptr;
  const bool apart = s.b_step == c.columns && s.b_column == 1;
  const int of = plan.log_bytes - 2;
  if (c.rows == 1 && s.a_step == 1 && (apart || (s.b_step == 1 && s.b_column == c.depth)))
    return plan.lanes->vector_by_square[c.depth][apart ? 1 : 0][of];
  const bool row_major = s.a_row == 2 && s.a_step == 1 && apart;
  return c.rows == 2 && c.depth == 2 && row_major ? plan.lanes->two_by_two[of] : nullptr;
}

}  // namespace

std::shared_ptr<const SmallPlan> plan_small_products(const LoopProgram& program, const isa::Table& table) {
  const Contraction* const c = codegen::contraction_in(program.form);
  if (c == nullptr || !codegen::has_products(c->dtype) || c->batches < kLeastMatrices) return nullptr;
  if (c->depth < 2 || c->depth > isa::kBlock || c->rows * c->depth > kMostElements ||
      c->columns * c->depth > kMostElements || c->rows * c->columns > kMostElements)
    return nullptr;
  const codegen::FactorForm left = codegen::factor_form(program, *c, true);
  const codegen::FactorForm right = codegen::factor_form(program, *c, false);
  if (!left.memory || !right.memory) return nullptr;
  auto plan = std::make_shared<SmallPlan>();
  plan->shape = *c;
  plan->table = &table;
  plan->lanes = &isa::lane_table(table);
  if (plan->lanes->multiply[static_cast<std::size_t>(c->dtype)] == nullptr)
    return nullptr;  // the level has no such loops
  plan->log_bytes = log_bytes_of(c->dtype);
  isa::SmallProducts& s = plan->strides;
  s.rows = c->rows;
  s.columns = c->columns;
  s.depth = c->depth;
  plan->left = factor_layout(left, c->depth, s.a_row, s.a_step);
  plan->right = factor_layout(right, c->depth, s.b_column, s.b_step);
  plan_small_results(program, *plan);
  plan->in_place = in_place(*plan);
  return plan;
}

/// For example "contraction: batch 1000, 3 x 3 x 3 (rows, columns, depth); 16 side by side, rows from in0, columns from
/// in1".
std::string SmallPlan::describe(const LoopProgram& program) const {
  const auto name = [&](const LaneLayout& factor) {
    return program.arguments[static_cast<std::size_t>(factor.memory.buffer)].name;
  };
  return "contraction: " + codegen::to_string(shape) + " (rows, columns, depth); " +
         (in_place != nullptr ? std::string("where they lie") : std::to_string(isa::kSmallLanes) + " side by side") +
         ", rows from " + name(left) + ", columns from " + name(right);
}

}  // namespace oriel::backend::eigen
