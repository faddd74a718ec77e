// Combining elements whose positions are equal, which scatters of all kinds are made of.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "formula/gathering.hpp"

namespace oriel::api {

/// The dtype in which integers are summed.
inline DType total_dtype(DType dtype) { return dtype == DType::uint64 ? dtype : DType::int64; }

/// Elements that are combined into the entries along one axis of a tensor of `shape`.
struct Scattered {
  const Call& call;
  Shape shape;
  std::size_t axis;
  Device device;
  /// As they came, int64: of shape (k), then each of them names whole lines along the other axes; or, with `each`, one
  /// for each element: then like `shape`, with k entries along the axis.
  NodePtr index;
  bool each = false;
  Bounds bounds = Bounds::zero;  ///< of combine

  /// The shape of the elements: `shape` with k along the axis.
  Shape lines() const;
  /// x, of the shape of the index, along the axis of a tensor like `shape`, or of those elements.
  NodePtr along(NodePtr x, const Shape& like) const;

  /// The elements `values` (of shape lines(), or one number without axes) of each entry, combined by a scatter's op,
  /// in their dtype, which is no half. A device without scatters combines them in another order.
  NodePtr combine(Op op, NodePtr values) const;
  /// For each entry the number of its last position, or -1; of shape (n) or, with `each`, `shape`. Checks nothing.
  NodePtr last() const;
  /// `values` of each entry's last position, 0 where there is none.
  NodePtr last_values(const NodePtr& values, const NodePtr& last) const;
};

/// A device without scatters compares so many pairs of an entry and a position one by one; for more it sorts the
/// positions. Tests lower it, so that small programs sort.
extern std::atomic<std::int64_t> most_compared_pairs;

/// The same by comparing all pairs of an entry and a position, or by sorting the positions: for devices without
/// scatters. For ScatterLast, `values` is null. Checks nothing.
NodePtr scatter_by_order(const Scattered& s, Op op, NodePtr values);

/// The bodies of put and put_add.
/// @{
Tensor put_at(const Call& call, const Operand& x, const Tensor& index, const Operand& values, std::int64_t axis,
              Bounds bounds);
Tensor added_at(const Call& call, const Operand& x, const Tensor& index, const Operand& values, std::int64_t axis,
                Bounds bounds);
/// @}

}  // namespace oriel::api
