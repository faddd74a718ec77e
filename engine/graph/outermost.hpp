// The outermost view of a tensor: how its pending movements read what lies below them.
#pragma once

#include "graph/node.hpp"
#include "oriel/view.hpp"

namespace oriel::graph {

/// The pending movements at the top of `node` as one view: over the row-major elements of the first node below them
/// that is realised or no movement, or, where they need a stack of views, over the view below the outermost one. A
/// reshape that the view before it cannot take starts a new one, row-major. Safe while another thread realises nodes.
View outermost_view(const NodePtr& node);

}  // namespace oriel::graph
