// The paths of kernels that a program may have by use.
#include <array>
#include <atomic>

#include "backend/eigen/isa/by_use.hpp"
#include "backend/eigen/products/small_plan.hpp"
#include "backend/eigen/tile/one_op.hpp"
#include "base/by_use.hpp"

namespace oriel::backend::eigen {

using codegen::LoopProgram;

namespace {

std::shared_ptr<const PathPlan> sort(const LoopProgram& program, const isa::Table& table) {
  return make_sort_plan(program, table);
}
std::shared_ptr<const PathPlan> scan(const LoopProgram& program, const isa::Table& table) {
  return make_scan_plan(program, table);
}
std::shared_ptr<const PathPlan> scatter(const LoopProgram& program, const isa::Table&) {
  return make_scatter_plan(program);
}
std::shared_ptr<const PathPlan> host(const LoopProgram& program, const isa::Table&) { return make_host_plan(program); }
std::shared_ptr<const PathPlan> small(const LoopProgram& program, const isa::Table& table) {
  return plan_small_products(program, table);
}

constexpr std::size_t kPaths = static_cast<std::size_t>(KernelPath::SmallProducts) + 1;

#ifdef ORIEL_BY_USE
constinit std::array<std::atomic<MakePathPlan>, kPaths> known{};

void use(KernelPath path, MakePathPlan planner) {
  known[static_cast<std::size_t>(path)].store(planner, std::memory_order_release);
}
#endif

}  // namespace

MakePathPlan path_planner(KernelPath path) noexcept {
#ifdef ORIEL_BY_USE
  return known[static_cast<std::size_t>(path)].load(std::memory_order_acquire);
#else
  switch (path) {
    case KernelPath::Sort:
      return sort;
    case KernelPath::Scan:
      return scan;
    case KernelPath::Scatter:
      return scatter;
    case KernelPath::Host:
      return host;
    case KernelPath::SmallProducts:
      return small;
    default:
      return nullptr;
  }
#endif
}

}  // namespace oriel::backend::eigen

#ifdef ORIEL_BY_USE
namespace oriel::by_use {

using backend::KernelPath;
namespace eigen = backend::eigen;
namespace isa = backend::isa;

void functions() { isa::use_functions(); }
void reductions() { isa::use_reductions(); }
void sorts() {
  isa::use_sorts();
  eigen::use(KernelPath::Sort, eigen::sort);
}
void scans() {
  isa::use_scans();
  eigen::use(KernelPath::Scan, eigen::scan);
}
void scatters() { eigen::use(KernelPath::Scatter, eigen::scatter); }
void host_calls() { eigen::use(KernelPath::Host, eigen::host); }
void small_products() { eigen::use(KernelPath::SmallProducts, eigen::small); }

}  // namespace oriel::by_use
#endif
