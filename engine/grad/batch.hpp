// A function of one, made a function of many: each node gets an axis in front.
#pragma once

#include <span>
#include <vector>

#include "grad/mark.hpp"

namespace oriel::derive {

/// A leaf of this dtype, shape and device for which work can be described and not run: work that reads it is refused.
NodePtr stand_in(const Shape& shape, const Node& like);

/// The results for many variables at once. `batched` are the variables with an axis of extent `count` in front, in
/// their order. A result has that axis too, or is as it was where it does not depend on the variables. Throws
/// ArgumentError for a host function that takes no batches.
struct Batched {
  NodePtr node;
  bool mapped = false;  // has the axis
};
std::vector<Batched> batch(const Call& call, std::span<const NodePtr> results, std::span<const NodePtr> variables,
                           std::span<const NodePtr> batched, SymInt count);

}  // namespace oriel::derive
