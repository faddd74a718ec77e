// Prepares and runs programs that call a function of host memory.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backend/eigen/tile/plan.hpp"
#include "backend/eigen/tile/threads.hpp"

namespace oriel::backend::eigen {

/// Threads share the batches of a batched function; another one is called once.
struct HostPlan {
  graph::HostFunctionPtr function;
  std::vector<DType> dtypes;                      // of the operands and the result
  std::vector<std::vector<std::int64_t>> shapes;  // likewise
  std::vector<std::int64_t> batch_bytes;          // likewise, of a batch
  std::int64_t batches = 1;
};

std::shared_ptr<const HostPlan> make_host_plan(const codegen::LoopProgram& program);
/// The stated time of a run on one core.
double host_nanoseconds(const HostPlan& plan);
std::string describe_host(const HostPlan& plan);
/// Calls the function on the arguments, of which the last is the result. Throws what it throws.
void run_host(const HostPlan& plan, const Team& threads, std::span<void* const> arguments);

}  // namespace oriel::backend::eigen
