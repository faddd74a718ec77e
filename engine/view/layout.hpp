// The questions of memory formats on bare shapes and strides, each in two forms: one that branches, and stops at the
// first axis that answers; one that does not, so that on symbolic sizes it is one formula and records no guard before
// its result is used.
#pragma once

#include <array>
#include <span>

#include "oriel/layout.hpp"

namespace oriel::detail {

/// The axes of a channels-last format, fastest first.
inline constexpr std::array<std::size_t, 4> kChannelsLast{1, 3, 2, 0};
inline constexpr std::array<std::size_t, 5> kChannelsLast3d{1, 4, 3, 2, 0};

/// One stride an axis. The result of both forms is the same for all sizes and strides.
bool contiguous_branching(const Shape& shape, const Ints& strides);
SymBool contiguous_formula(const Shape& shape, const Ints& strides);

/// `order` names every axis once, fastest first. An empty layout gets no exception here.
bool dense_branching(const Shape& shape, const Ints& strides, std::span<const std::size_t> order);
SymBool dense_formula(const Shape& shape, const Ints& strides, std::span<const std::size_t> order);

/// Channels-last (rank 4) or, for rank 5, channels-last-3d; false for other ranks.
bool channels_last_branching(const Shape& shape, const Ints& strides);
SymBool channels_last_formula(const Shape& shape, const Ints& strides);

/// Whether the strides are dense in ascending order, axes of extent 0 and 1 last: the sorting routine alone, without
/// the formats. An empty layout may be refused here.
bool dense_when_sorted(const Shape& shape, const Ints& strides);

/// No two indices share a position, and there are no gaps. On symbols: true where it holds for all their values; false
/// where symbols without a hint leave it open; else one opaque condition on all sizes and strides, which the hints
/// decide, in place of a guard for each comparison of a sort.
SymBool non_overlapping_and_dense(const Shape& shape, const Ints& strides);
SymBool symbolic_density(const Shape& shape, const Ints& strides);

/// The strides' order is that of a channels-last format: by `kChannelsLast` for rank 4, `kChannelsLast3d` for 5.
bool like_channels_last(const Shape& shape, const Ints& strides, std::span<const std::size_t> order);

/// Strides of a new layout whose axes lie in `order`, fastest first. An extent of 0 counts as it is.
Ints strides_in_order(const Shape& shape, std::span<const std::size_t> order);

}  // namespace oriel::detail
