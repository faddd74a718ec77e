// Prepares and runs programs that scatter.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "backend/eigen/tile/plan.hpp"
#include "backend/eigen/tile/threads.hpp"

namespace oriel::backend::eigen {

/// Threads share blocks, else the elements of lines, else entries or keys, whichever is fastest. Each
/// entry combines its elements in the order of their keys, so the number of threads changes no bit.
struct ScatterPlan {
  codegen::Scattering scatter;
  DType dtype = DType::float32;  // of the result
};

std::shared_ptr<const ScatterPlan> make_scatter_plan(const codegen::LoopProgram& program);
/// The estimated time of a run on one core.
double scatter_nanoseconds(const ScatterPlan& plan);
std::string describe_scatter(const ScatterPlan& plan);
/// Combines argument 1 into the last argument by the positions in argument 0.
void run_scatter(const ScatterPlan& plan, const Team& threads, std::span<void* const> arguments);

}  // namespace oriel::backend::eigen
