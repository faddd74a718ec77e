// Chooses how a program runs: sorted, as parts, over windows, as a product, or tile by tile.
#include <algorithm>

#include "backend/eigen/products/contraction_plan.hpp"
#include "backend/eigen/products/parts.hpp"
#include "backend/eigen/products/windows_plan.hpp"
#include "backend/eigen/tile/plan.hpp"
#include "backend/eigen/tile/sort.hpp"
#include "codegen/join.hpp"

namespace oriel::backend::eigen {

using codegen::LoopProgram;

namespace {

// The path of a program with one part.
KernelPath path_of(const LoopProgram& program, const Plan& plan) {
  if (plan.points == 0) return KernelPath::Nothing;
  if (plan.windows != nullptr) return KernelPath::Windows;
  if (plan.contraction != nullptr) return path_of(*plan.contraction);
  const bool reduces = std::any_of(program.stages.begin(), program.stages.end(),
                                   [](const codegen::Stage& s) { return !s.reductions.empty(); });
  return reduces ? KernelPath::Reductions : KernelPath::Elementwise;
}

}  // namespace

std::shared_ptr<const Plan> make_plan(const LoopProgram& program, const isa::Table& table, std::int64_t tile) {
  if (program.sorting) {
    auto plan = std::make_shared<Plan>();
    plan->name = program.name;
    plan->table = &table;
    plan->sorting = make_sort_plan(program, table);
    plan->arguments = program.arguments.size();
    plan->points = program.sorting->rows;
    if (plan->points > 0) plan->path = KernelPath::Sort;
    return plan;
  }
  if (codegen::parts_of(program) > 1) {
    auto plan = std::make_shared<Plan>();
    plan->name = program.name;
    plan->table = &table;
    plan->parts = plan_parts(program, table, tile);
    for (const codegen::Argument& a : program.arguments) plan->arguments += a.local ? 0 : 1;
    for (const codegen::Constant& c : program.constants)
      if (c.parameter >= 0) plan->parameters = std::max(plan->parameters, static_cast<std::size_t>(c.parameter) + 1);
    plan->points = plan->parts->batches * plan->parts->rows;
    if (plan->points > 0) plan->path = plan->parts->running != nullptr ? KernelPath::Running : KernelPath::Rows;
    return plan;
  }
  std::shared_ptr<Plan> plan = make_tile_plan(program, table, tile);
  plan->windows = plan_windows(program, table);
  if (plan->windows == nullptr) plan->contraction = plan_contraction(program, table);
  plan->path = path_of(program, *plan);
  return plan;
}

}  // namespace oriel::backend::eigen
