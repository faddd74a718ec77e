// Reading at positions that are only known when the work runs, with what stands between them and memory put into the
// positions.
#pragma once

#include <span>

#include "graph/build.hpp"

namespace oriel::graph {

/// The elements of x whose index along axis d is coordinates[d]; 0 where `inside` is false. Coordinates are int64, one
/// an axis of x, and have the result's shape, as `inside` has: bool, or null where all are inside. Where `inside`
/// holds, each coordinate lies in its axis; elsewhere it may be anything.
///
/// Movements of x become arithmetic on the coordinates, so that the Gather reads the memory below them. What x is
/// computed from is read at the coordinates too, and computed there, where that costs less than storing x. Numbers and
/// positions (Const, Iota) are never stored.
NodePtr gather_at(NodePtr x, std::span<const NodePtr> coordinates, NodePtr inside, const Origin& origin);

}  // namespace oriel::graph
