// Plans graphs for tests of the schedule: kernels, reasons, and a slow interpreter of loop programs.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "codegen/loop_program.hpp"
#include "graph/build.hpp"
#include "oriel/tensor.hpp"
#include "runtime/plan.hpp"

namespace oriel::test {

/// A float32 leaf whose elements are 1, 2, 3, ...
graph::NodePtr counting(const Shape& shape, DType dtype = DType::float32);
/// The same as a tensor.
Tensor leaf(const Shape& shape, DType dtype = DType::float32);

/// The plan for realising `roots` together, with the default limits or others. Verifies every loop program.
runtime::Plan plan(const std::vector<graph::NodePtr>& roots, const schedule::FusionLimits& limits = {});
std::size_t kernel_count(const std::vector<graph::NodePtr>& roots, const schedule::FusionLimits& limits = {});
/// The reasons of all stored values, in the order in which kernels run.
std::vector<std::string> reasons(const runtime::Plan& plan);

/// Runs a plan by interpreting its loop programs point by point. Returns the elements of each root as doubles.
std::vector<std::vector<double>> interpret(const std::vector<graph::NodePtr>& roots,
                                           const schedule::FusionLimits& limits = {});

}  // namespace oriel::test
