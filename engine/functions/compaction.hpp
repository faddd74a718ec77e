// Moves what belongs to the true elements of a mask together. The mask is one byte for each element, in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "graph/build.hpp"
#include "oriel/site.hpp"
#include "oriel/symint.hpp"

namespace oriel::api {

using MaskBytes = std::span<const std::uint8_t>;

/// The number of bytes that are not 0.
std::size_t count_true(MaskBytes mask) noexcept;

/// Writes the indices of the true elements of a mask of this shape, whose product is the mask's size: one row of
/// `shape.size()` numbers for each of the `count` true elements, in row-major order.
void write_indices(MaskBytes mask, std::size_t count, std::span<const std::int64_t> shape, std::int64_t* out);

/// Copies the elements of `item` bytes (1, 2, 4 or 8) whose mask is true. `count` is how many there are.
void copy_true(MaskBytes mask, std::size_t count, const void* from, std::size_t item, void* out);

/// The row-major positions where a bool node is true, as int64 (count) on its device. Realises the mask.
graph::NodePtr true_positions(const graph::NodePtr& mask, Site site);

/// The element of an int64 node without axes. Realises it.
std::int64_t only_element(const graph::NodePtr& value);

}  // namespace oriel::api
