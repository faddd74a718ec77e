// Reshape of a single view: Theorem R.
#pragma once

#include "view/canonical.hpp"

namespace oriel::detail {

/// Reshapes `blocks` to the extents `target` (none is 0; same element count). Stores one stride and one mask range per
/// target axis and returns true, or returns false if no single view is the result. Both answers are exact (Theorem R):
/// every cut between blocks must be a cut of `target`, and each block's valid interval must be a box of the target's
/// digits inside the block. Plain only if the target is.
template <Number N>
bool reshape_blocks(const BasicBlocks<N>& blocks, const Shape& target, Ints& strides, Ranges& mask);

}  // namespace oriel::detail
