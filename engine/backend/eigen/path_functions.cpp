#include "backend/eigen/tile/path_functions.hpp"

#include <array>
#include <atomic>
#include <type_traits>

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

std::int64_t points_alone(const LoopProgram& program) {
  if (program.sorting) return program.sorting->rows;
  if (program.scanning) return program.scanning->rows;
  if (program.scattering) return program.scattering->rows;
  return program.arguments.back().elements.value();
}

/// Of a kernel of one op: the member of the plan that belongs to it, and how that is made, described, run and timed.
template <auto kMember, auto kMake, auto kDescribe, auto kRun, auto kNanoseconds>
struct OneOpPath {
  static auto made(const LoopProgram& program, const isa::Table& table) {
    if constexpr (std::is_invocable_v<decltype(kMake), const LoopProgram&, const isa::Table&>)
      return kMake(program, table);
    else
      return kMake(program);
  }
  static void plan(const LoopProgram& program, const isa::Table& table, Plan& plan) {
    plan.*kMember = made(program, table);
    plan.points = points_alone(program);
  }
  static std::string describe(const LoopProgram& program, const isa::Table& table) {
    return kDescribe(*made(program, table));
  }
  static void run(const Plan& plan, const Team& threads, std::span<void* const> arguments,
                  std::span<const graph::Scalar>) {
    kRun(*(plan.*kMember), threads, arguments);
  }
  static double nanoseconds(const Plan& plan) { return kNanoseconds(*(plan.*kMember)); }
  static constexpr PathFunctions functions{plan, describe, run, nanoseconds};
};

constexpr PathFunctions kSorts =
    OneOpPath<&Plan::sorting, make_sort_plan, describe_sort, run_sort, sort_nanoseconds>::functions;
constexpr PathFunctions kScans =
    OneOpPath<&Plan::scanning, make_scan_plan, describe_scan, run_scan, scan_nanoseconds>::functions;
constexpr PathFunctions kScatters =
    OneOpPath<&Plan::scattering, make_scatter_plan, describe_scatter, run_scatter, scatter_nanoseconds>::functions;
constexpr PathFunctions kHosts =
    OneOpPath<&Plan::hosting, make_host_plan, describe_host, run_host, host_nanoseconds>::functions;

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
