#include "backend/eigen/run.hpp"

#include "backend/eigen/products/contraction_plan.hpp"
#include "backend/eigen/products/kept_panels.hpp"
#include "backend/eigen/products/parts.hpp"
#include "backend/eigen/products/windows_plan.hpp"
#include "backend/eigen/tile/machine.hpp"

namespace oriel::backend::eigen {

void run_plan(const Plan& plan, const Team& threads, std::span<void* const> arguments,
              std::span<const graph::Scalar> parameters, const Keeping* keeping) {
  check_launch(plan, arguments, parameters);
  switch (plan.path) {
    case KernelPath::Nothing:
      return;
    case KernelPath::Sort:
    case KernelPath::Scan:
    case KernelPath::Scatter:
    case KernelPath::Host:
    case KernelPath::SmallProducts:
      return plan.by_use->run(threads, arguments, parameters);
    case KernelPath::Rows:
    case KernelPath::Online:
      return run_parts(*plan.parts, threads, arguments, parameters, keeping);
    case KernelPath::Windows:
      return run_windows(*plan.windows, threads, arguments, parameters);
    case KernelPath::Blocked:
    case KernelPath::Streamed:
    case KernelPath::DotProducts:
      return run_contraction(*plan.contraction, threads, arguments, parameters, keeping);
    default:
      return run_tiles(plan, threads, arguments, parameters);
  }
}

std::vector<std::size_t> packed_arguments(const Plan& plan) {
  switch (plan.path) {
    case KernelPath::Rows:
      return packed_arguments(*plan.parts);
    case KernelPath::Blocked:
    case KernelPath::Streamed: {
      const std::int32_t argument = packed_argument(*plan.contraction);
      return argument < 0 ? std::vector<std::size_t>() : std::vector{static_cast<std::size_t>(argument)};
    }
    default:
      return {};
  }
}

}  // namespace oriel::backend::eigen
