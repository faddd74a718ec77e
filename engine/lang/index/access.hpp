// Reads a tensor at index expressions over loops.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "graph/build.hpp"
#include "lang/index/index.hpp"

namespace oriel::lang {

/// The elements x[e(i)] of a row-major tensor of `shape`, i in the box, where position 0 along axis d is coordinate
/// lows[d]. The expressions are linear. A stride is the sum of a loop's coefficients times the tensor's strides; the
/// offset is the position at all lower bounds. Throws detail::ArithmeticOverflow.
View linear_view(const Shape& shape, std::span<const std::int64_t> lows, std::span<const sym::Expr> expressions,
                 std::span<const Interval> box);

/// As read_affine, for linear expressions. The result is one raw view; x is padded with zeros if an expression leaves
/// it. Precondition: no interval of the box is empty.
graph::NodePtr read_linear(graph::NodePtr x, std::span<const Interval> coordinates,
                           std::span<const sym::Expr> expressions, std::span<const Interval> box,
                           const graph::Origin& origin);

/// result[i] = x[e(i)], where i runs over the box, whose extents are the shape of the result. For each axis of x there
/// is one expression, and the interval of its coordinates: the first element has the lowest. Elements outside x are 0.
/// Returns nullopt if an expression is not a sum of multiples of loops and of quotients and remainders by positive
/// numbers; such an access is a gather. `builder` is that of the expressions. Throws detail::ArithmeticOverflow.
std::optional<graph::NodePtr> read_affine(IndexBuilder& builder, graph::NodePtr x, std::vector<Interval> coordinates,
                                          std::vector<sym::Expr> expressions, std::span<const Interval> box,
                                          const graph::Origin& origin);

}  // namespace oriel::lang
