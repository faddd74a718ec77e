// The opaque condition that symbolic strides are dense.
#pragma once

#include <span>
#include <string_view>

#include "sym/node.hpp"

namespace oriel::detail {

/// Its name in texts.
inline constexpr std::string_view kDensityPredicate = "non_overlapping_and_dense";
/// The condition on the sizes, followed by as many strides. There is at least one of each.
sym::Expr density_predicate(std::span<const sym::Expr> sizes_and_strides);

}  // namespace oriel::detail
