// A graph as Graphviz text.
#pragma once

#include <span>
#include <string>

#include "graph/node.hpp"

namespace oriel::graph {

/// What a node's own argument says, e.g. "axes (0, 1)", "3.5", "(2,3):(3,1)"; empty where it has none.
std::string argument_text(const Node& node);

/// The pending work under `roots`, sources above their consumers, as `digraph`. Same graph, same bytes: no addresses.
/// No other thread may realise any of it meanwhile.
std::string dot(std::span<const NodePtr> roots);

}  // namespace oriel::graph
