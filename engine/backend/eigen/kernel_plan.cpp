// Chooses how a program runs: sorted, scanned, scattered, as parts, over windows, as a product, or tile by tile.
#include <algorithm>
#include <memory>
#include <variant>

#include "backend/eigen/products/contraction_plan.hpp"
#include "backend/eigen/products/parts.hpp"
#include "backend/eigen/products/windows_plan.hpp"
#include "backend/eigen/tile/plan.hpp"
#include "oriel/error.hpp"

namespace oriel::backend::eigen {

using codegen::LoopProgram;

namespace {

// The path of a program with one part.
KernelPath path_of(const LoopProgram& program, const Plan& plan) {
  if (plan.points == 0) return KernelPath::Nothing;
  if (plan.windows != nullptr) return KernelPath::Windows;
  if (plan.contraction != nullptr) return path_of(*plan.contraction);
  if (plan.by_use != nullptr) return KernelPath::SmallProducts;
  return codegen::reduces(program.form) ? KernelPath::Reductions : KernelPath::Elementwise;
}

struct FormPlanner {
  const LoopProgram& program;
  const isa::Table& table;
  std::int64_t tile;

  std::shared_ptr<Plan> begin() const {
    auto plan = std::make_shared<Plan>();
    plan->name = program.name;
    plan->table = &table;
    return plan;
  }

  std::int64_t rows_alone() const {
    return program.sorting    ? program.sorting->rows
           : program.scanning ? program.scanning->rows
                              : program.scattering->rows;
  }
  // A kernel of one op that reads memory.
  std::shared_ptr<const Plan> alone(KernelPath path) const {
    const MakePathPlan planner = path_planner(path);
    if (planner == nullptr)
      throw InternalError("compile", "this program has no part for kernels on the path \"" + text(path) +
                                         "\": nothing that makes such nodes was called (base/by_use.hpp)");
    const std::shared_ptr<Plan> plan = begin();
    plan->by_use = planner(program, table);
    plan->points = program.hosting ? program.arguments.back().elements.value() : rows_alone();
    plan->arguments = program.arguments.size();
    if (plan->points > 0) plan->path = path;
    return plan;
  }
  std::shared_ptr<const Plan> operator()(const codegen::Sort&) const { return alone(KernelPath::Sort); }
  std::shared_ptr<const Plan> operator()(const codegen::Scan&) const { return alone(KernelPath::Scan); }
  std::shared_ptr<const Plan> operator()(const codegen::Scatter&) const { return alone(KernelPath::Scatter); }
  std::shared_ptr<const Plan> operator()(const codegen::Host&) const { return alone(KernelPath::Host); }

  std::shared_ptr<const Plan> operator()(const codegen::Parts&) const {
    const std::shared_ptr<Plan> plan = begin();
    plan->parts = plan_parts(program, table, tile);
    for (const codegen::Argument& a : program.arguments) plan->arguments += a.local ? 0 : 1;
    for (const codegen::Constant& c : program.constants)
      if (c.parameter >= 0) plan->parameters = std::max(plan->parameters, static_cast<std::size_t>(c.parameter) + 1);
    plan->points = plan->parts->batches * plan->parts->rows;
    if (plan->points > 0) plan->path = plan->parts->online != nullptr ? KernelPath::Online : KernelPath::Rows;
    return plan;
  }

  std::shared_ptr<const Plan> operator()(const codegen::Windows&) const { return reduction(); }
  std::shared_ptr<const Plan> operator()(const codegen::Contraction&) const { return reduction(); }
  std::shared_ptr<const Plan> operator()(const codegen::Elementwise&) const { return tiles(); }
  std::shared_ptr<const Plan> operator()(const codegen::PlainReduction&) const { return tiles(); }
  std::shared_ptr<const Plan> operator()(const codegen::Rows&) const { return tiles(); }

  // What runs tile by tile where it is too small for windows or blocks.
  std::shared_ptr<const Plan> reduction() const {
    const std::shared_ptr<Plan> plan = make_tile_plan(program, table, tile);
    plan->windows = plan_windows(program, table);
    if (plan->windows == nullptr) plan->contraction = plan_contraction(program, table);
    const MakePathPlan small = path_planner(KernelPath::SmallProducts);
    if (plan->windows == nullptr && plan->contraction == nullptr && small != nullptr)
      plan->by_use = small(program, table);
    plan->path = path_of(program, *plan);
    return plan;
  }
  std::shared_ptr<const Plan> tiles() const {
    const std::shared_ptr<Plan> plan = make_tile_plan(program, table, tile);
    plan->path = path_of(program, *plan);
    return plan;
  }
};

}  // namespace

std::shared_ptr<const Plan> make_plan(const LoopProgram& program, const isa::Table& table, std::int64_t tile) {
  return std::visit(FormPlanner{program, table, tile}, program.form);
}

}  // namespace oriel::backend::eigen
