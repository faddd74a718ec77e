// Reads at positions that are known only when the work runs. Movements between the gather and memory become arithmetic
// on the positions.
#pragma once

#include <span>

#include "graph/build.hpp"

namespace oriel::graph {

/// The elements of x whose index along axis d is coordinates[d], or 0 where `inside` is false. There is one int64
/// coordinate for each axis of x. Coordinates and `inside` have the result's shape; `inside` is bool, or null if
/// everything is inside. Where `inside` is true, each coordinate lies in its axis; elsewhere it may be anything.
///
/// Movements of x become arithmetic on the coordinates, so that the Gather reads the memory below them. If computing x
/// at the coordinates costs less than storing x, its sources are read at the coordinates instead. Numbers and positions
/// (Const, Iota) are never stored.
NodePtr gather_at(NodePtr x, std::span<const NodePtr> coordinates, NodePtr inside, const Origin& origin);

}  // namespace oriel::graph
