// The joint iteration of several operands: the shape to which they broadcast, the order of the loops over its axes, the
// layout of the outputs, and the loops that remain after neighbouring axes are joined. The rules are those of PyTorch
// 1.13's TensorIterator.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "oriel/inline_vector.hpp"
#include "oriel/layout.hpp"
#include "view/layouts/overlap.hpp"

namespace oriel::detail {

/// How the layout of the outputs was found. The first three are fast paths: all operands have the same shape and are
/// all contiguous, all channels-last (rank 4), or all non-overlapping and dense with equal strides. Then every operand
/// is one run of memory and no order needs to be computed. Reductions, and operands of rank 0 beside others of a higher
/// rank, always take the general path.
enum class IterationPath { contiguous, channels_last, non_overlapping_dense, general };
/// "contiguous", "channels_last", "non_overlapping_dense", "none".
std::string_view name(IterationPath path) noexcept;

/// Strides of several operands over one shape. Four operands of up to eight axes need no allocation.
using StridesList = InlineVector<Ints, 4>;

struct Iteration {
  /// The operands' common shape.
  Shape shape;
  IterationPath path = IterationPath::general;
  /// order[k] is the axis of `shape` of loop k before joining, fastest first. Empty unless `path` is general.
  Ints order;
  /// The inputs' strides over `shape`, 0 along axes where an input is broadcast. Empty unless `path` is general.
  StridesList effective;
  /// The outputs' strides over `shape`: for a new output the strides to allocate, for a provided one its own.
  StridesList outputs;
  /// The extents of the loops, fastest first, and the operands' strides along them, outputs before inputs. Rank 0 has
  /// no loops.
  Shape loop_shape;
  StridesList loop_strides;
};

/// Operands, by pointer. Each has one stride per axis and no negative extent.
using Operands = std::span<const Layout* const>;

/// Iterates inputs together, with one new output.
Iteration iterate(Operands inputs);
/// Iterates with these outputs; null stands for a new one. A provided output takes part in choosing the order, before
/// the inputs, and a fast path needs it to have the inputs' layout. An output that is also an input occurs in both
/// lists. `places` gives the storage and offset of each operand, outputs before inputs; empty means that each has a
/// storage of its own. Throws ShapeError if a provided output may not be written (view/layouts/overlap.hpp), if the
/// inputs do not broadcast, or if a provided output has another shape than the result; OverflowError if the number of
/// elements exceeds 2^63-1.
///
/// Strides of 0 do not affect the order. Strides are compared by magnitude, so that a reversed axis keeps its place;
/// PyTorch has no negative strides.
Iteration iterate(Operands inputs, Operands outputs, std::span<const MemoryPlace> places = {});

/// Iterates a reduction of `input` over `axes` (each in [0, rank)) into a new, contiguous output. The output has stride
/// 0 along the reduced axes, which become the fastest loops. Throws OverflowError.
Iteration iterate_reduction(const Layout& input, const Ints& axes);
/// The layout of a reduction's output: contiguous, whatever the layout of the input. Reduced axes stay with extent 1 if
/// `keepdim` is set.
Layout reduction_layout(const Layout& input, const Ints& axes, bool keepdim);

/// The order of the loops over a single operand: `Iteration::order` for it alone, computed even if a fast path applies.
Ints iteration_order(const Layout& layout);

/// Broadcasts `common` with `shape` and stores the result in `common`. If they do not broadcast, returns the last axis,
/// counted in the longer shape, on which they differ, and leaves `common` unchanged.
std::optional<std::size_t> broadcast_into(Shape& common, const Shape& shape);

}  // namespace oriel::detail
