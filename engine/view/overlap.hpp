// Operands that share memory: which outputs can be written while the inputs are read. The rules are those of PyTorch
// 1.13's TensorIterator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "oriel/layout.hpp"

namespace oriel::detail {

/// Where an operand lies. Operands of one storage may share elements; counted in elements of one size.
struct MemoryPlace {
  std::int64_t storage = -1;  // -1: of its own
  SymInt offset = 0;          // of the element at index 0
};

enum class Overlap {
  none,
  full,     // the same elements at the same indices
  partial,  // shared elements, at other indices or beside ones that are not shared
  unknown,  // one of them is not non-overlapping and dense: not looked into
};

/// How the elements of two layouts overlap. Throws OverflowError.
Overlap overlap(const Layout& a, const MemoryPlace& at_a, const Layout& b, const MemoryPlace& at_b);

/// An axis of two or more indices and stride 0 of a layout that is not dense: a write would reach its elements more
/// than once. Repeats in other ways, such as (3,4):(1,1), are not looked for.
std::optional<std::size_t> repeated_axis(const Layout& layout);

/// Throws ShapeError where an output has a repeated axis, or overlaps an input in part. Null outputs are new ones and
/// overlap nothing. An operand named in both lists overlaps itself in full. `places` holds one an operand, outputs
/// before inputs; empty: every operand has a storage of its own. Throws ArgumentError for another number of places.
void check_overlap(std::span<const Layout* const> inputs, std::span<const Layout* const> outputs,
                   std::span<const MemoryPlace> places);

}  // namespace oriel::detail
