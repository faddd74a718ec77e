// The paths of kernels that a program may have by use (base/by_use.hpp), as tables of functions.
#pragma once

#include <span>
#include <string>

#include "backend/eigen/tile/plan.hpp"
#include "backend/eigen/tile/threads.hpp"

namespace oriel::backend::eigen {

/// How kernels of one path are planned and run.
struct PathFunctions {
  /// Fills in the members of the plan that belong to the path: of a sort, scan, scatter or call of the host also its
  /// points.
  void (*plan)(const codegen::LoopProgram& program, const isa::Table& table, Plan& plan);
  std::string (*describe)(const codegen::LoopProgram& program, const isa::Table& table);
  void (*run)(const Plan& plan, const Team& threads, std::span<void* const> arguments,
              std::span<const graph::Scalar> parameters);
  /// The estimated time of a run on one core. Null for paths whose time is that of their arithmetic.
  double (*nanoseconds)(const Plan& plan);
};

/// Those of Sort, Scan, Scatter, Host or SmallProducts; null if the program does not have the path.
const PathFunctions* functions_of(KernelPath path) noexcept;
/// The same. Throws InternalError if the program does not have the path.
const PathFunctions& needed_functions(KernelPath path);

}  // namespace oriel::backend::eigen
