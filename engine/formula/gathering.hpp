// Positions that a program holds in tensors, and reading at them.
#pragma once

#include "formula/position_check.hpp"

namespace oriel::api {

/// `value` in the shape of `like`, int64.
NodePtr position_number(const Call& call, SymInt value, const graph::Node& like);
/// `index` as int64. Larger positions become the largest int64, which lies outside every axis. Throws DTypeError unless
/// it holds integers.
NodePtr raw_positions(const Call& call, const Tensor& index);
/// Positions as int64 in [0, extent), or -1 where the index lies outside. With Bounds::checked that is an IndexError,
/// of this call or of the work that needs them (position_check.hpp).
NodePtr positions(const Call& call, const Tensor& index, const IndexedAxis& axis, Bounds bounds);
/// Reads the elements of `source` over `domain`. The axes [axis, axis + wide) of the domain index `where`, which
/// holds the position along `axis`; the other axes index the source directly. Where it is negative: 0.
Tensor read_at(const Call& call, NodePtr source, std::size_t axis, const Shape& domain, std::size_t wide,
               const NodePtr& where);
/// The bodies of take and gather.
/// @{
Tensor taken(const Call& call, const Operand& x, const Tensor& index, std::int64_t axis, Bounds bounds);
Tensor gathered(const Call& call, const NodePtr& source, const Tensor& index, std::int64_t axis, Bounds bounds);
/// @}

}  // namespace oriel::api
