#include "backend/eigen/tile/one_op.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <limits>
#include <mutex>

namespace oriel::backend::eigen {
namespace {

/// Calls the function for batches [first, last).
void call(const HostPlan& plan, std::span<void* const> arguments, std::int64_t first, std::int64_t last) {
  const std::size_t count = plan.shapes.size();
  std::vector<HostArray> arrays(count);
  std::vector<std::vector<std::int64_t>> shapes = plan.shapes;
  for (std::size_t a = 0; a < count; ++a) {
    if (plan.function->options.batched) shapes[a][0] = last - first;
    arrays[a] = {plan.dtypes[a], shapes[a], static_cast<char*>(arguments[a]) + first * plan.batch_bytes[a]};
  }
  plan.function->run(HostCall{std::span(arrays).first(count - 1), arrays.back(), first});
}

}  // namespace

std::shared_ptr<const HostPlan> make_host_plan(const codegen::LoopProgram& program) {
  auto plan = std::make_shared<HostPlan>();
  plan->function = program.hosting->function;
  const bool batched = plan->function->options.batched;
  for (std::size_t a = 0; a < program.arguments.size(); ++a) {
    std::vector<std::int64_t> shape;
    for (const SymInt n : program.hosting->shapes[a]) shape.push_back(n.value());
    std::int64_t bytes = static_cast<std::int64_t>(itemsize(program.arguments[a].dtype));
    for (std::size_t d = batched ? 1 : 0; d < shape.size(); ++d) bytes *= shape[d];
    if (batched) plan->batches = shape[0];
    plan->dtypes.push_back(program.arguments[a].dtype);
    plan->shapes.push_back(std::move(shape));
    plan->batch_bytes.push_back(bytes);
  }
  return plan;
}

double HostPlan::nanoseconds() const {
  const auto told = function->batch_nanoseconds;
  return (told != nullptr ? told(shapes) : function->options.nanoseconds) * static_cast<double>(batches);
}

std::string HostPlan::describe(const codegen::LoopProgram& /*program*/) const {
  if (!function->options.batched) return fmt::format("calls the host function {} once", function->name);
  return fmt::format("calls the host function {} on {} batches", function->name, batches);
}

void HostPlan::run(const Team& threads, std::span<void* const> arguments,
                   std::span<const graph::Scalar> /*parameters*/) const {
  constexpr double share_nanoseconds = 20'000;
  const std::int64_t most = std::min(batches, std::int64_t{8} * threads.count());
  const std::int64_t tasks = threads.count() == 1 ? 1 : tasks_for(nanoseconds(), share_nanoseconds, most);
  if (tasks <= 1) return call(*this, arguments, 0, batches);
  // Whichever thread fails first, the lowest batches' error is thrown.
  std::mutex mutex;
  std::int64_t failed = tasks;
  std::exception_ptr error;
  threads.run(tasks, [&](std::int64_t t) {
    try {
      call(*this, arguments, share_begin(batches, t, tasks), share_begin(batches, t + 1, tasks));
    } catch (...) {
      const std::lock_guard guard(mutex);
      if (t < failed) {
        failed = t;
        error = std::current_exception();
      }
    }
  });
  if (error) std::rethrow_exception(error);
}

}  // namespace oriel::backend::eigen
