// Checks the invariants of a graph: run after passes in debug builds and in tests.
#pragma once

#include <span>

#include "graph/node.hpp"

namespace oriel::graph {

/// Throws InternalError naming the first node under `roots` that breaks a rule of node.hpp or of the op table: arity,
/// dtypes, shapes, arguments. No other thread may realise any of it meanwhile.
void verify(std::span<const NodePtr> roots);

}  // namespace oriel::graph
