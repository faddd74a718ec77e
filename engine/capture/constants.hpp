// Which values of a trace are constants that something outside of it can change.
#pragma once

#include <span>

#include "graph/order.hpp"
#include "oriel/tensor.hpp"

namespace oriel::api {

/// Throws ArgumentError where something outside holds a value that the callable made of numbers or data alone, such as
/// a static that the trace was the first to use: it would be read as it is now, and may be written later. `order`: the
/// trace, claimed; `known`: its arguments and results, which may hold such values, and so may `results`.
void check_constants(const graph::Order& order, std::span<const Tensor> known, std::span<const graph::NodePtr> results);

}  // namespace oriel::api
