// The layout of a node, pending or realised. It is a property of the graph, determined op by op with PyTorch's rules.
#pragma once

#include "graph/node.hpp"
#include "oriel/layout.hpp"

namespace oriel::graph {

/// The layout that a user sees. It is the same before and after the node is realised, and whatever else is realised.
///   movements     the source's strides moved; flips make them negative. Row-major for a reshape that the strides
///                 cannot express, for views with a mask and for views of several steps. A pad is channels-last if
///                 its source is, else row-major
///   elementwise   by the joint iteration of the operands (view/layouts/iterate.hpp), of which numbers are ones
///                 without axes. An operand counts as it was before it was broadcast
///   reductions    row-major
///   writes        as the target
///   Format        as a new tensor of the format, or in the strides that it names
/// Iterative. Computed once for each node. Thread safety: any thread.
Layout layout_of(const Node& node);

/// The layout of a movement of a tensor with layout `source`.
Layout layout_of_movement(const Node& movement, const Layout& source);
/// The form in which a node keeps this layout.
FoundLayout found_layout(Layout layout);

/// The strides that the elements have, or would have, where the node is stored; null for row-major. They are dense: the
/// strides of `layout_of` if these are dense, else dense strides in the same order. Valid as long as the node. Thread
/// safety: any thread.
const Ints* memory_strides(const Node& node);

}  // namespace oriel::graph
