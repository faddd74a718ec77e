// Plans graphs for tests of the schedule: kernels, reasons, and a slow interpreter of loop programs.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "codegen/loop_program.hpp"
#include "graph/build.hpp"
#include "runtime/plan.hpp"

namespace oriel::test {

/// A float32 leaf whose elements are 1, 2, 3, ...
graph::NodePtr counting(const Shape& shape, DType dtype = DType::float32);

/// The plan of realising `roots` together, under the default limits or others. Every loop program has been verified.
runtime::Plan plan(const std::vector<graph::NodePtr>& roots, const schedule::FusionLimits& limits = {});
std::size_t kernel_count(const std::vector<graph::NodePtr>& roots, const schedule::FusionLimits& limits = {});
/// Reasons of all stored values, in running order.
std::vector<std::string> reasons(const runtime::Plan& plan);

/// Runs a plan by interpreting its loop programs point by point; the elements of each root as doubles.
std::vector<std::vector<double>> interpret(const std::vector<graph::NodePtr>& roots,
                                           const schedule::FusionLimits& limits = {});

}  // namespace oriel::test
