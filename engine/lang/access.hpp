// Reading a tensor at index expressions over loops.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "graph/build.hpp"
#include "lang/index.hpp"

namespace oriel::lang {

/// result[i] = x[e(i)], where i runs over the box (shape: its extents) and there is one expression for each axis of x,
/// with x's first element at 0. Outside of x: 0. Nothing where an expression holds anything but sums of linear terms
/// and of quotients and remainders by positive numbers; that is a gather. Throws detail::ArithmeticOverflow.
std::optional<graph::NodePtr> read_affine(graph::NodePtr x, std::vector<IndexTree> expressions,
                                          std::span<const Interval> box, const graph::Origin& origin);

}  // namespace oriel::lang
