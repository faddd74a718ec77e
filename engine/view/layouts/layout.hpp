// Predicates of memory formats on shapes and strides. Each has two forms. One branches and stops at the first axis that
// decides. The other does not branch, so that on symbolic sizes it is one formula, which records no guard until its
// result is used.
#pragma once

#include <array>
#include <span>

#include "oriel/layout.hpp"

namespace oriel::detail {

/// The axes of a channels-last format, fastest first.
inline constexpr std::array<std::size_t, 4> kChannelsLast{1, 3, 2, 0};
inline constexpr std::array<std::size_t, 5> kChannelsLast3d{1, 4, 3, 2, 0};

/// Precondition: one stride per axis. The result of both forms is the same for all sizes and strides.
bool contiguous_branching(const Shape& shape, const Ints& strides);
SymBool contiguous_formula(const Shape& shape, const Ints& strides);

/// Precondition: `order` names every axis once, fastest first. Layouts without elements are checked like any other.
bool dense_branching(const Shape& shape, const Ints& strides, std::span<const std::size_t> order);
SymBool dense_formula(const Shape& shape, const Ints& strides, std::span<const std::size_t> order);

/// Channels-last (rank 4) or, for rank 5, channels-last-3d; false for other ranks.
bool channels_last_branching(const Shape& shape, const Ints& strides);
SymBool channels_last_formula(const Shape& shape, const Ints& strides);

/// True if the strides are dense in ascending order, with axes of extent 0 and 1 last. This is the sorting part of
/// is_non_overlapping_and_dense alone. It may be false for a layout without elements.
bool dense_when_sorted(const Shape& shape, const Ints& strides);

/// No two indices share a position, and there are no gaps. On symbols: true if it holds for all their values; false
/// if symbols without a hint leave it open; else one opaque condition on all sizes and strides, which the hints decide,
/// instead of a guard for each comparison of a sort.
SymBool non_overlapping_and_dense(const Shape& shape, const Ints& strides);
SymBool symbolic_density(const Shape& shape, const Ints& strides);

/// True if the order of the strides is that of a channels-last format, given by `order`: `kChannelsLast` for rank 4,
/// `kChannelsLast3d` for rank 5.
bool like_channels_last(const Shape& shape, const Ints& strides, std::span<const std::size_t> order);

/// Strides of a new layout whose axes are stored in `order`, fastest first. An extent of 0 is not counted as 1.
Ints strides_in_order(const Shape& shape, std::span<const std::size_t> order);

}  // namespace oriel::detail
