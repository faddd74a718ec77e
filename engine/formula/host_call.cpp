#include "oriel/host_call.hpp"

#include <fmt/format.h>

#include <vector>

#include "backend/backend.hpp"
#include "formula/host_call.hpp"
#include "graph/host_function.hpp"
#include "oriel/error.hpp"

namespace oriel {

using api::Access;
using api::Call;
using graph::NodePtr;

namespace api {

NodePtr called_on_host(const Call& call, const graph::HostFunctionPtr& function, std::vector<NodePtr> operands,
                       const Shape& shape, DType dtype) {
  // The device of the operands; numbers and positions go where the others are.
  const graph::Node* chosen = operands[0].get();
  for (const NodePtr& x : operands)
    if (graph::movable(*chosen)) chosen = x.get();
  const Device device = chosen->device;
  for (const NodePtr& x : operands) {
    if (x->device == device || graph::movable(*x)) continue;
    throw DeviceError(call.operation(), fmt::format("operands live on {} and {}; copy one of them with to(Device)",
                                                    device.str(), x->device.str()));
  }
  const bool there = backend::backend_for(device).capabilities().hosts;
  const Device host = there ? device : Device{DeviceKind::eigen, 0, device.context};
  for (NodePtr& x : operands) x = graph::copy(std::move(x), host, call.origin());
  NodePtr made = graph::host_call(function, operands, shape, dtype, call.origin());
  return there ? made : graph::copy(std::move(made), device, call.origin());
}

}  // namespace api

namespace {

/// A public function's object as the engine holds it.
graph::HostFunctionPtr held(const detail::Shared<const graph::HostFunction>& function) {
  return {function.get(), [function](const graph::HostFunction*) {}};
}

}  // namespace

HostFunction::HostFunction(std::string name, Callback<void(const HostCall&)> function, HostOptions options, Site site) {
  const Call call("HostFunction", site);
  if (name.empty()) throw ArgumentError("HostFunction", "the name is empty");
  if (!function) throw ArgumentError("HostFunction", "there is no function");
  if (!(options.nanoseconds >= 0))
    throw ArgumentError("HostFunction", fmt::format("nanoseconds is {}; give a number >= 0", options.nanoseconds));
  function_ = detail::Shared<graph::HostFunction>::make(std::move(name), std::move(function), options);
}

Tensor HostFunction::operator()(ListOf<Tensor> operands, const Shape& shape, DType dtype, Site site) const {
  const Call call("host_call", site);
  if (operands.empty() || operands.size() > 3)
    throw ArgumentError("host_call", fmt::format("{} operands; give one to three", operands.size()));
  std::vector<NodePtr> nodes;
  for (const Tensor& x : operands) {
    nodes.push_back(Access::node(x));
    if (!function_->options.batched) continue;
    if (x.rank() == 0 || shape.empty() || x.size(0) != shape[0]) {
      throw ShapeError("host_call",
                       fmt::format("operand {} of a batched function for a result {}; give both an axis 0 of "
                                   "one extent",
                                   to_string(x.shape()), to_string(shape)));
    }
  }
  return Access::tensor(api::called_on_host(call, held(function_), std::move(nodes), shape, dtype));
}

Tensor host_call(std::string name, Callback<void(const HostCall&)> function, ListOf<Tensor> operands,
                 const Shape& shape, DType dtype, HostOptions options, Site site) {
  return HostFunction(std::move(name), std::move(function), options, site)(operands, shape, dtype, site);
}

}  // namespace oriel
