// The order of every reduction (backend/eigen/tile/README.md). As element.hpp: planning compiles it, and it is text of
// rendered sources.
#pragma once

#include <cstdint>

namespace oriel::ops::reduction {

using Int = std::int64_t;

// snippet order:

// Value r goes to lane r % kOrder of its block of kBlock values. At the end of a block its lanes are halved down to one
// value. Blocks are paired like the digits of a binary counter. At the end the remaining values are combined, those of
// fewest blocks first.
inline constexpr Int kOrder = 32;
inline constexpr Int kBlock = 1024;

// end of snippets

}  // namespace oriel::ops::reduction
