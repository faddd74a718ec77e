// Functions of host memory: by what their options say, or by the rules of linear algebra.
#include <fmt/format.h>

#include "grad/linalg.hpp"
#include "grad/mark.hpp"
#include "grad/rules.hpp"
#include "oriel/error.hpp"

namespace oriel::derive {

namespace {

void pull_host(Step& step) {
  const graph::HostFunction& function = *std::get<graph::HostFunctionPtr>(step.node().arg);
  if (pull_linalg(step, function.saved)) return;
  if (!function.options.vjp)
    throw ArgumentError(step.call().operation(),
                        fmt::format("the host function \"{}\" has no derivative; state it by HostOptions::vjp, or "
                                    "keep it out by stop_gradient",
                                    function.name));
  std::vector<Tensor> operands;
  for (std::size_t k = 0; k < step.operands(); ++k) operands.push_back(step.operand(k).tensor());
  const std::vector<NodePtr> shares =
      api::Access::nodes(function.options.vjp(operands, step.result().tensor(), step.cotangent().tensor()));
  check_fit(step.call(), shares, api::Access::nodes(operands), "cotangent",
            fmt::format(" of vjp of the host function \"{}\"", function.name));
  for (std::size_t k = 0; k < shares.size(); ++k)
    if (step.wants(k)) step.give(k, {step.call(), shares[k]});
}

}  // namespace

namespace rules {

void HostCall::pull(Step& step) { pull_host(step); }
void HostCall2::pull(Step& step) { pull_host(step); }
void HostCall3::pull(Step& step) { pull_host(step); }

}  // namespace rules

}  // namespace oriel::derive
