// The functions of host memory that linear algebra calls.
#pragma once

#include <string_view>

#include "graph/host_function.hpp"

namespace oriel::api {

/// The function that a graph and a file call by this name: "solve", "svd:full". Null if there is none. Each is made
/// once. All are batched: operands and results are (batches, ...) in float32 or float64. A result of several parts has
/// them one after the other in each batch.
graph::HostFunctionPtr linalg_function(std::string_view name);

}  // namespace oriel::api
