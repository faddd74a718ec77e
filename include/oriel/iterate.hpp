// The joint iteration of several operands, by the rules of PyTorch's TensorIterator.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "oriel/api.hpp"
#include "oriel/layout.hpp"
#include "oriel/list.hpp"
#include "oriel/tensor.hpp"

namespace ORIEL_API oriel {

/// An operand of an iteration. All operands with an offset (in elements) share one memory. Each operand without an
/// offset has a memory of its own.
struct IterationOperand {
  /// An operand with this layout and, if given, this offset in the shared memory.
  IterationOperand(Layout of, std::optional<SymInt> at = {})  // NOLINT(google-explicit-constructor)
      : layout(std::move(of)), offset(at) {}
  /// An operand with the layout of a tensor, in a memory of its own.
  IterationOperand(const Tensor& tensor) : layout(tensor.layout()) {}  // NOLINT(google-explicit-constructor)

  Layout layout;                 ///< its shape and strides
  std::optional<SymInt> offset;  ///< of its first element in the shared memory; none: a memory of its own
};

/// The shape to which the operands broadcast, the order in which its axes are visited, the layout of the result, and
/// the loops that remain after neighbouring axes are joined. The rules are those of PyTorch 1.13.
struct Iteration {
  Shape shape;  ///< that all operands have after broadcasting
  /// PyTorch's fast path: "contiguous", "channels_last" or "non_overlapping_dense" if all operands have the same shape
  /// and each occupies one contiguous run of memory; else "none".
  std::string path;
  /// order[k] is the axis of `shape` with the k-th fastest loop. Empty unless `path` is "none".
  Ints order;
  /// The inputs' strides over `shape`; 0 along axes where an input is broadcast. Empty unless `path` is "none".
  std::vector<Ints> strides;
  /// The outputs: for a new one the layout to allocate, for a provided one its own layout. The output of a reduction
  /// has no reduced axes unless they are kept (keepdim).
  std::vector<Layout> outputs;
  /// The extents of the loops, fastest first, and each operand's strides along them, outputs before inputs. An output
  /// has stride 0 along reduced axes. Operands without axes have no loops.
  Shape loop_shape;
  std::vector<Ints> loop_strides;  ///< of each operand, by loop

  /// The table that `oriel iterate` prints, without the operands.
  std::string str() const;
};

/// Iterates inputs into one new output. Throws ArgumentError if there is no input, ShapeError if they do not broadcast,
/// OverflowError if the number of elements exceeds 2^63-1.
///   iterate({x, y}).outputs[0].strides;  // those of x + y
Iteration iterate(ListOf<IterationOperand> inputs);
/// Iterates into the given outputs; nullopt stands for a new one. As in PyTorch, a provided output takes part in
/// choosing the order, before the inputs. Also throws ShapeError if a provided output has another shape than the
/// result, repeats an element, or shares elements with an input at other indices.
Iteration iterate(std::span<const IterationOperand> inputs, std::span<const std::optional<IterationOperand>> outputs);

/// Iterates a reduction of `input` over `axes` (all, one, or a list; negative from the last) into a new output. Reduced
/// axes become the fastest loops. Throws ShapeError for an axis out of range or named twice.
///   iterate_reduction(Layout{{2, 3, 4}, {12, 1, 3}}, {1});
Iteration iterate_reduction(const IterationOperand& input, const Axes& axes = {}, bool keepdim = false);

}  // namespace oriel
