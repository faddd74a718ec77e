// A graph as Graphviz text.
#pragma once

#include <span>
#include <string>

#include "graph/node.hpp"

namespace oriel::graph {

/// The node's argument as text, e.g. "axes (0, 1)", "3.5", "(2,3):(3,1)"; empty if it has none.
std::string argument_text(const Node& node);

/// The pending work under `roots` as `digraph`, with sources above their readers. The text contains no addresses, so
/// the same graph gives the same text. No other thread may realise any of it meanwhile.
std::string dot(std::span<const NodePtr> roots);

}  // namespace oriel::graph
