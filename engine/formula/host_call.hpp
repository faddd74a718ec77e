// Nodes that call functions of host memory.
#pragma once

#include <vector>

#include "formula/call.hpp"

namespace oriel::api {

/// What the function makes of the operands, on their device. If that calls no functions, operands are copied to the CPU
/// and the result is copied back.
NodePtr called_on_host(const Call& call, const graph::HostFunctionPtr& function, std::vector<NodePtr> operands,
                       const Shape& shape, DType dtype);

}  // namespace oriel::api
