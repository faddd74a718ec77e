// Chooses how a program runs: sorted, scanned, scattered, as parts, over windows, as a product, or tile by tile.
#include <algorithm>
#include <memory>
#include <variant>

#include "backend/eigen/products/contraction_plan.hpp"
#include "backend/eigen/products/parts.hpp"
#include "backend/eigen/products/small_plan.hpp"
#include "backend/eigen/products/windows_plan.hpp"
#include "backend/eigen/tile/host.hpp"
#include "backend/eigen/tile/plan.hpp"
#include "backend/eigen/tile/scan.hpp"
#include "backend/eigen/tile/scatter.hpp"
#include "backend/eigen/tile/sort.hpp"

namespace oriel::backend::eigen {

using codegen::LoopProgram;

namespace {

// The path of a program with one part.
KernelPath path_of(const LoopProgram& program, const Plan& plan) {
  if (plan.points == 0) return KernelPath::Nothing;
  if (plan.windows != nullptr) return KernelPath::Windows;
  if (plan.contraction != nullptr) return path_of(*plan.contraction);
  if (plan.small != nullptr) return KernelPath::SmallProducts;
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

  std::shared_ptr<const Plan> operator()(const codegen::Sort&) const {
    const std::shared_ptr<Plan> plan = begin();
    plan->sorting = make_sort_plan(program, table);
    plan->arguments = program.arguments.size();
    plan->points = program.sorting->rows;
    if (plan->points > 0) plan->path = KernelPath::Sort;
    return plan;
  }

  std::shared_ptr<const Plan> operator()(const codegen::Scan&) const {
    const std::shared_ptr<Plan> plan = begin();
    plan->scanning = make_scan_plan(program, table);
    plan->arguments = program.arguments.size();
    plan->points = program.scanning->rows;
    if (plan->points > 0) plan->path = KernelPath::Scan;
    return plan;
  }

  std::shared_ptr<const Plan> operator()(const codegen::Scatter&) const {
    const std::shared_ptr<Plan> plan = begin();
    plan->scattering = make_scatter_plan(program);
    plan->arguments = program.arguments.size();
    plan->points = program.scattering->rows;
    if (plan->points > 0) plan->path = KernelPath::Scatter;
    return plan;
  }

  std::shared_ptr<const Plan> operator()(const codegen::Host&) const {
    const std::shared_ptr<Plan> plan = begin();
    plan->hosting = make_host_plan(program);
    plan->arguments = program.arguments.size();
    plan->points = program.arguments.back().elements.value();
    if (plan->points > 0) plan->path = KernelPath::Host;
    return plan;
  }

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
  // Stencils have no path of their own: tiles read their neighbours from the cache.
  std::shared_ptr<const Plan> operator()(const codegen::Stencil&) const { return tiles(); }
  std::shared_ptr<const Plan> operator()(const codegen::Elementwise&) const { return tiles(); }
  std::shared_ptr<const Plan> operator()(const codegen::PlainReduction&) const { return tiles(); }
  std::shared_ptr<const Plan> operator()(const codegen::Rows&) const { return tiles(); }

  // What runs tile by tile where it is too small for windows or blocks.
  std::shared_ptr<const Plan> reduction() const {
    const std::shared_ptr<Plan> plan = make_tile_plan(program, table, tile);
    plan->windows = plan_windows(program, table);
    if (plan->windows == nullptr) plan->contraction = plan_contraction(program, table);
    if (plan->windows == nullptr && plan->contraction == nullptr) plan->small = plan_small_products(program, table);
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
