// Reshape of a single view: Theorem R.
#pragma once

#include "view/canonical.hpp"

namespace oriel::detail {

/// Reads `blocks` row-major with the extents `target` (none 0, same element count): fills one stride and one mask range
/// for each target axis and returns true, or returns false where no single view says it. Exact both ways (Theorem R):
/// every cut between blocks must be a cut of `target`, and each block's valid interval must be a box of the target's
/// digits inside the block.
bool reshape_blocks(const Blocks& blocks, const Shape& target, Ints& strides, Ranges& mask);

}  // namespace oriel::detail
