#include "backend/eigen/path_functions.hpp"

#include <array>
#include <atomic>

#include "backend/eigen/isa/by_use.hpp"
#include "backend/eigen/products/small_plan.hpp"
#include "backend/eigen/products/small_products.hpp"
#include "backend/eigen/tile/host.hpp"
#include "backend/eigen/tile/scan.hpp"
#include "backend/eigen/tile/scatter.hpp"
#include "backend/eigen/tile/sort.hpp"
#include "base/by_use.hpp"
#include "oriel/error.hpp"

namespace oriel::backend::eigen {

using codegen::LoopProgram;

namespace {

constexpr PathFunctions kSorts{
    [](const LoopProgram& program, const isa::Table& table, Plan& plan) {
      plan.sorting = make_sort_plan(program, table);
      plan.points = program.sorting->rows;
    },
    [](const LoopProgram& program, const isa::Table& table) { return describe_sort(*make_sort_plan(program, table)); },
    [](const Plan& plan, const Team& threads, std::span<void* const> arguments, std::span<const graph::Scalar>) {
      run_sort(*plan.sorting, threads, arguments);
    },
    [](const Plan& plan) { return sort_nanoseconds(*plan.sorting); }};

constexpr PathFunctions kScans{
    [](const LoopProgram& program, const isa::Table& table, Plan& plan) {
      plan.scanning = make_scan_plan(program, table);
      plan.points = program.scanning->rows;
    },
    [](const LoopProgram& program, const isa::Table& table) { return describe_scan(*make_scan_plan(program, table)); },
    [](const Plan& plan, const Team& threads, std::span<void* const> arguments, std::span<const graph::Scalar>) {
      run_scan(*plan.scanning, threads, arguments);
    },
    [](const Plan& plan) { return scan_nanoseconds(*plan.scanning); }};

constexpr PathFunctions kScatters{
    [](const LoopProgram& program, const isa::Table&, Plan& plan) {
      plan.scattering = make_scatter_plan(program);
      plan.points = program.scattering->rows;
    },
    [](const LoopProgram& program, const isa::Table&) { return describe_scatter(*make_scatter_plan(program)); },
    [](const Plan& plan, const Team& threads, std::span<void* const> arguments, std::span<const graph::Scalar>) {
      run_scatter(*plan.scattering, threads, arguments);
    },
    [](const Plan& plan) { return scatter_nanoseconds(*plan.scattering); }};

constexpr PathFunctions kHosts{
    [](const LoopProgram& program, const isa::Table&, Plan& plan) {
      plan.hosting = make_host_plan(program);
      plan.points = program.arguments.back().elements.value();
    },
    [](const LoopProgram& program, const isa::Table&) { return describe_host(*make_host_plan(program)); },
    [](const Plan& plan, const Team& threads, std::span<void* const> arguments, std::span<const graph::Scalar>) {
      run_host(*plan.hosting, threads, arguments);
    },
    [](const Plan& plan) { return host_nanoseconds(*plan.hosting); }};

constexpr PathFunctions kSmallProducts{
    [](const LoopProgram& program, const isa::Table& table, Plan& plan) {
      plan.small = plan_small_products(program, table);
    },
    [](const LoopProgram& program, const isa::Table& table) { return describe_small_products(program, table); },
    [](const Plan& plan, const Team& threads, std::span<void* const> arguments,
       std::span<const graph::Scalar> parameters) { run_small_products(*plan.small, threads, arguments, parameters); },
    nullptr};

constexpr std::size_t kPaths = static_cast<std::size_t>(KernelPath::SmallProducts) + 1;

#ifdef ORIEL_BY_USE
constinit std::array<std::atomic<const PathFunctions*>, kPaths> known{};

void use(KernelPath path, const PathFunctions& functions) {
  known[static_cast<std::size_t>(path)].store(&functions, std::memory_order_release);
}
#endif

}  // namespace

const PathFunctions* functions_of(KernelPath path) noexcept {
#ifdef ORIEL_BY_USE
  return known[static_cast<std::size_t>(path)].load(std::memory_order_acquire);
#else
  switch (path) {
    case KernelPath::Sort:
      return &kSorts;
    case KernelPath::Scan:
      return &kScans;
    case KernelPath::Scatter:
      return &kScatters;
    case KernelPath::Host:
      return &kHosts;
    case KernelPath::SmallProducts:
      return &kSmallProducts;
    default:
      return nullptr;
  }
#endif
}

const PathFunctions& needed_functions(KernelPath path) {
  if (const PathFunctions* const functions = functions_of(path)) return *functions;
  throw InternalError("compile", "this program has no part for kernels on the path \"" + text(path) +
                                     "\": nothing that makes such nodes was called (base/by_use.hpp)");
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
  eigen::use(KernelPath::Sort, eigen::kSorts);
}
void scans() {
  isa::use_scans();
  eigen::use(KernelPath::Scan, eigen::kScans);
}
void scatters() { eigen::use(KernelPath::Scatter, eigen::kScatters); }
void host_calls() { eigen::use(KernelPath::Host, eigen::kHosts); }
void small_products() { eigen::use(KernelPath::SmallProducts, eigen::kSmallProducts); }

}  // namespace oriel::by_use
#endif
