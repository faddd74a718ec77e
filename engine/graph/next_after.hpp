// C's nextafter as nodes.
#pragma once

#include "graph/build.hpp"

namespace oriel::graph {

/// The next number of the dtype after x in the direction of y; y if they are equal, NaN if either is. Both are floats
/// of one dtype and shape.
NodePtr next_after(const NodePtr& x, const NodePtr& y, const Origin& origin);

}  // namespace oriel::graph
