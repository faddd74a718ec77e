// Checks graphs that come from files.
#pragma once

#include <span>

#include "graph/node.hpp"

namespace oriel::api {

/// Throws IoError unless the graph, whose sizes are numbers, is one that the builders of nodes could have made.
void check_loaded(std::span<const graph::NodePtr> roots);

}  // namespace oriel::api
