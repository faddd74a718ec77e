// How several operands are walked together, by the rules of PyTorch's TensorIterator.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "oriel/layout.hpp"
#include "oriel/tensor.hpp"

namespace oriel {

/// An operand of an iteration. Operands with an offset, in elements, lie in one memory; each other has its own.
struct IterationOperand {
  IterationOperand(Layout of, std::optional<SymInt> at = {})  // NOLINT(google-explicit-constructor)
      : layout(std::move(of)), offset(at) {}
  IterationOperand(const Tensor& tensor) : layout(tensor.layout()) {}  // NOLINT(google-explicit-constructor)

  Layout layout;
  std::optional<SymInt> offset;
};

/// The shape that operands broadcast to, the order in which its axes are walked, the layout of what they give, and the
/// loops that remain once neighbouring axes are joined. The rules are those of PyTorch 1.13.
struct Iteration {
  Shape shape;
  /// How it was found: "contiguous", "channels_last" or "non_overlapping_dense" where all operands have one shape and
  /// memory is one run for each of them; else "none".
  std::string path;
  /// order[k] is the axis of `shape` that is walked k-th, fastest first. Empty unless `path` is "none".
  Ints order;
  /// The inputs' strides over `shape`, 0 where an input repeats. Empty unless `path` is "none".
  std::vector<Ints> strides;
  /// The outputs: a new one as it should be allocated, a provided one as it is. A reduction's has no reduced axes
  /// unless they were kept.
  std::vector<Layout> outputs;
  /// The loops, fastest first; and each operand's strides along them, outputs before inputs. An output steps by 0 along
  /// what is reduced. Without axes there is no loop.
  Shape loop_shape;
  std::vector<Ints> loop_strides;

  /// The table that `oriel iterate` prints, without the operands.
  std::string str() const;
};

/// Iterates inputs into one new output. Throws ArgumentError without an input, ShapeError where they do not broadcast,
/// OverflowError where the number of elements passes 2^63-1.
///   iterate({x, y}).outputs[0].strides;  // those of x + y
Iteration iterate(std::span<const IterationOperand> inputs);
Iteration iterate(std::initializer_list<IterationOperand> inputs);
/// Iterates into these outputs; nothing stands for a new one. As in PyTorch a provided output has a say in the order,
/// in front of the inputs. Throws ShapeError as well where a provided output has another shape than the result, repeats
/// an element, or shares elements with an input at other indices.
Iteration iterate(std::span<const IterationOperand> inputs, std::span<const std::optional<IterationOperand>> outputs);

/// Iterates a reduction of `input` over `axes` (all, one, or a list; negative from the last) into a new output. Reduced
/// axes become the fastest loops. Throws ShapeError for an axis out of range or named twice.
///   iterate_reduction(Layout{{2, 3, 4}, {12, 1, 3}}, {1});
Iteration iterate_reduction(const IterationOperand& input, const Axes& axes = {}, bool keepdim = false);

}  // namespace oriel
