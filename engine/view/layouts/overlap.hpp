// Operands that share memory: whether an output may be written while the inputs are read. The rules are those of
// PyTorch 1.13's TensorIterator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "oriel/layout.hpp"

namespace oriel::detail {

/// The storage and offset of an operand, in elements. Operands of one storage may share elements; all their elements
/// have the same size.
struct MemoryPlace {
  std::int64_t storage = -1;  // -1: a storage of its own
  SymInt offset = 0;          // position of the element at index 0
};

enum class Overlap {
  none,
  full,     // the same elements at the same indices
  partial,  // some elements are shared, but not all, or at other indices
  unknown,  // not examined: one of them is not non-overlapping and dense
};

/// How the elements of two layouts overlap. Throws OverflowError.
Overlap overlap(const Layout& a, const MemoryPlace& at_a, const Layout& b, const MemoryPlace& at_b);

/// An axis of extent >= 2 and stride 0, in a layout that is not dense: a write would reach elements more than once.
/// Other repetitions, such as (3,4):(1,1), are not detected.
std::optional<std::size_t> repeated_axis(const Layout& layout);

/// Throws ShapeError if an output has a repeated axis or partly overlaps an input. Null outputs are new and overlap
/// nothing. An operand in both lists overlaps itself fully. `places` has one entry per operand, outputs before inputs;
/// empty means that every operand has a storage of its own. Throws ArgumentError for another number of places.
void check_overlap(std::span<const Layout* const> inputs, std::span<const Layout* const> outputs,
                   std::span<const MemoryPlace> places);

}  // namespace oriel::detail
