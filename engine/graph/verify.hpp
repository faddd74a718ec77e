// Checks the invariants of a graph, after passes in debug builds and in tests.
#pragma once

#include <span>

#include "graph/node.hpp"

namespace oriel::graph {

/// Throws InternalError, which names the first node under `roots` that breaks a rule of node.hpp or of the op table:
/// arity, dtypes, shapes, arguments. No other thread may realise any of the nodes meanwhile.
void verify(std::span<const NodePtr> roots);

}  // namespace oriel::graph
