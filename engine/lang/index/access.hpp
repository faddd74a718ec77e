// Reads a tensor at index expressions over loops.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "graph/build.hpp"
#include "lang/index/index.hpp"

namespace oriel::lang {

/// As read_affine, for linear expressions. The result is one raw view; x is padded with zeros if an expression leaves
/// it. Precondition: no interval of the box is empty.
graph::NodePtr read_linear(graph::NodePtr x, std::span<const Linear> expressions, std::span<const Interval> box,
                           const graph::Origin& origin);

/// result[i] = x[e(i)], where i runs over the box, whose extents are the shape of the result. There is one expression
/// per axis of x; x's first element has index 0. Elements outside x are 0. Returns nullopt if an expression is not a
/// sum of linear terms and of quotients and remainders by positive numbers; such an access is a gather. Throws
/// detail::ArithmeticOverflow.
std::optional<graph::NodePtr> read_affine(graph::NodePtr x, std::vector<IndexTree> expressions,
                                          std::span<const Interval> box, const graph::Origin& origin);

}  // namespace oriel::lang
