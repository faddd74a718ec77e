// The joint iteration of several operands: the shape they broadcast to, the order of axes that walks their memory, the
// layout of what they give, and the loops that remain when neighbouring axes are joined. The rules are those of PyTorch
// 1.13's TensorIterator.
#pragma once

#include <boost/container/small_vector.hpp>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "oriel/layout.hpp"
#include "view/overlap.hpp"

namespace oriel::detail {

/// How the layout of the outputs was found. The first three need operands of one shape: where all are contiguous, all
/// channels-last (rank 4), or all non-overlapping and dense with equal strides, memory is one run, and no order has to
/// be worked out. An operand of rank 0 beside one of a higher rank, and a reduction, rule them out.
enum class IterationPath { contiguous, channels_last, non_overlapping_dense, general };
/// "contiguous", "channels_last", "non_overlapping_dense", "none".
std::string_view name(IterationPath path) noexcept;

/// Strides of several operands over one shape. Four operands of up to eight axes need no allocation.
using StridesList = boost::container::small_vector<Ints, 4>;

struct Iteration {
  /// The operands' common shape.
  Shape shape;
  IterationPath path = IterationPath::general;
  /// order[k] is the axis of `shape` that loop k walks before joining, fastest first. Empty unless `path` is general.
  Ints order;
  /// The inputs' strides over `shape`, 0 where an input repeats. Empty unless `path` is general.
  StridesList effective;
  /// The outputs' strides over `shape`: of a new one as it should be allocated, of a provided one as they are.
  StridesList outputs;
  /// The loops, fastest first, and their strides, outputs before inputs. Rank 0 gives no loop.
  Shape loop_shape;
  StridesList loop_strides;
};

/// Operands, by pointer. Each has one stride an axis and no negative extent.
using Operands = std::span<const Layout* const>;

/// Iterates inputs together, with one new output.
Iteration iterate(Operands inputs);
/// Iterates with these outputs; null stands for a new one. A provided output takes part: it is looked at before the
/// inputs, and the fast paths hold only if it is laid out as they are. An output that is an input as well is named in
/// both lists. `places` says where operands of one storage lie, outputs before inputs; empty: each in its own. Throws
/// ShapeError where a provided output may not be written (view/overlap.hpp), where the inputs do not broadcast, or a
/// provided output has another shape than they, and OverflowError where the number of elements passes 2^63-1.
///
/// Strides of 0 have no say in the order. Strides compare by magnitude, so that an axis walked backwards keeps its
/// place; PyTorch has no negative ones.
Iteration iterate(Operands inputs, Operands outputs, std::span<const MemoryPlace> places = {});

/// Iterates a reduction of `input` over `axes` (each in [0, rank)) into a new, contiguous output. Over the reduced axes
/// the output's strides are 0, and they become the fastest loops. Throws OverflowError.
Iteration iterate_reduction(const Layout& input, const Ints& axes);
/// The layout of that output: contiguous, whatever the input's. Reduced axes stay with extent 1 if `keepdim`.
Layout reduction_layout(const Layout& input, const Ints& axes, bool keepdim);

/// The order in which one operand would be walked: `Iteration::order` of it alone, whatever its path.
Ints iteration_order(const Layout& layout);

/// Broadcasts `shape` into `common`, or returns the axis of the longer of the two on which they differ, the last such
/// one, and leaves `common` as it was.
std::optional<std::size_t> broadcast_into(Shape& common, const Shape& shape);

}  // namespace oriel::detail
