// Makes nodes: the shape and dtype rules, and the errors of calls that break them.
//
// Elementwise builders take sources of one shape and one dtype; promotion and broadcasting are for the callers, with
// the helpers at the end. Movements that change nothing return their source, movements of a Const are a Const, a
// reshape of a reshape is one reshape, a cast to the same dtype is its source.
#pragma once

#include <span>
#include <string_view>

#include "graph/node.hpp"

namespace oriel::graph {

/// On whose behalf a node is made: the name that errors start with (empty: the op's own, in snake case) and the line.
struct Origin {
  std::string_view operation = {};
  Site site = Site::unknown();
};

/// `value` at every index.
NodePtr constant(const Scalar& value, const Shape& shape, Device device = {}, const Origin& origin = {});
/// The number `n`, a size, at every index. Of a symbolic size: a Const whose argument is the size.
NodePtr size_constant(SymInt n, DType dtype, const Shape& shape, Device device = {}, const Origin& origin = {});
/// Is the number of a Const 0? A symbolic size is not.
bool is_zero(const Node& constant) noexcept;
/// Are both the same for all values of their symbols? Records no guard: for shortcuts that change no result.
bool known_same(const Shape& a, const Shape& b);
/// int64; the row-major position of each index of `shape`.
NodePtr iota(const Shape& shape, Device device = {}, const Origin& origin = {});
/// The first numel(shape) elements of `buffer`. Throws ArgumentError where it is too small.
NodePtr leaf(mem::BufferPtr buffer, DType dtype, const Shape& shape, const Origin& origin = {});

/// A pending Const or Iota: it goes where its consumers are.
bool movable(const Node& node) noexcept;
/// The same on another device. The node is movable.
NodePtr moved_to(Device device, const Node& node, const Origin& origin = {});

// Throw DTypeError where the op does not take the dtype, ShapeError where the sources' shapes differ, DeviceError where
// the sources live on different devices.
NodePtr unary(Op op, NodePtr x, const Origin& origin = {});
NodePtr binary(Op op, NodePtr a, NodePtr b, const Origin& origin = {});
/// c ? x : y; `c` is bool.
NodePtr where(NodePtr c, NodePtr x, NodePtr y, const Origin& origin = {});
NodePtr cast(NodePtr x, DType dtype, const Origin& origin = {});
/// Same bits. Throws DTypeError where the widths differ.
NodePtr bitcast(NodePtr x, DType dtype, const Origin& origin = {});

/// `node`, a Const that was just made, as a tensor of these strides. Else a Const is a number, which has no say in the
/// layout of what is computed with it.
NodePtr laid_out_constant(NodePtr node, Layout layout);

// Throw ShapeError naming the source's shape and what would fit.
NodePtr reshape(NodePtr x, const Shape& shape, const Origin& origin = {});
/// result axis d is source axis order[d].
NodePtr permute(NodePtr x, const Ints& order, const Origin& origin = {});
/// Same rank; axes of extent 1 may grow.
NodePtr expand(NodePtr x, const Shape& shape, const Origin& origin = {});
NodePtr shrink(NodePtr x, const Ranges& ranges, const Origin& origin = {});
/// Zeros around; ranges[d] = {before, after}, both >= 0.
NodePtr pad(NodePtr x, const Ranges& before_after, const Origin& origin = {});
/// `axes` ascending, no repeats, in [0, rank).
NodePtr flip(NodePtr x, const Ints& axes, const Origin& origin = {});
/// The same elements, in memory in that order wherever they are stored. Of preserve, the source. Throws ShapeError
/// where the rank is not the format's.
NodePtr format(NodePtr x, MemoryFormat format, const Origin& origin = {});
/// The same elements, in memory in these strides, one an axis, or, where they are not dense, densely in their order.
NodePtr format(NodePtr x, const Ints& strides, const Origin& origin = {});
/// Index i of the result is element view.at(i) of the source's row-major elements; zero where invalid. Throws
/// ShapeError where the view leaves the source.
NodePtr raw_view(NodePtr x, const View& view, const Origin& origin = {});

/// Element i of the result is x's element at row-major position index[i], of int64; 0 where that is not in
/// [0, numel(x)). Throws DTypeError for an index of another dtype.
NodePtr gather(NodePtr x, NodePtr index, const Origin& origin = {});

/// The same elements on another device, in the strides of a new tensor like x (Layout::preserved); x itself where it is
/// there. Of a copy, one of what it copies; a Const or Iota moves.
NodePtr copy(NodePtr x, Device device, const Origin& origin = {});

/// A comparison that nobody else knows yet, as one whose operands were written in the other order: layouts go by that.
NodePtr mirrored(NodePtr comparison);

/// The target after a write: its row-major element where.at(i) is value's element i, the others stay. No `where` is a
/// write of all of it. `value` has the dtype of the target and the shape of `where`; `where` meets no element twice and
/// is nowhere invalid (view/injective.hpp; for the caller to see to). The target's memory is taken over where nothing
/// reads its old elements any more.
NodePtr assign(NodePtr target, NodePtr value, std::shared_ptr<const ShapeTracker> where, const Origin& origin = {});

/// Reduces `axes` (ascending, no repeats, in [0, rank)), which stay with extent 1. Over no axes: the source.
NodePtr reduce(Op op, NodePtr x, const Ints& axes, const Origin& origin = {});

/// Elements along the last axis in ascending order, or descending: their values (Sort), or their positions on the axis,
/// int64 (ArgSort), as the table of ops says. x has axes.
NodePtr sort(Op op, NodePtr x, bool descending, const Origin& origin = {});

/// NumPy's common shape. Throws ShapeError naming both shapes and the axis that differs.
Shape broadcast_shapes(const Shape& a, const Shape& b, const Origin& origin = {});
/// NumPy's broadcast: new axes in front, then expand. Throws ShapeError.
NodePtr broadcast_to(NodePtr x, const Shape& shape, const Origin& origin = {});
/// The same for an operand of an elementwise op, in whose layout x counts with the axes that it has.
NodePtr broadcast_operand(NodePtr x, const Shape& shape, const Origin& origin = {});
/// `moved`, a movement of `source` just made, whose strides follow from the source's as said. Nothing is said of one
/// that turned out to be another node.
NodePtr restrided(NodePtr moved, const NodePtr& source, AxisStrides strides);
/// The same elements in the same shape, at strides that only axes of one element show; none named: those that a reshape
/// to this shape gives.
NodePtr restepped(NodePtr x, AxisStrides strides, const Origin& origin = {});
/// Axes counted from the end where negative, sorted. Throws ShapeError for one out of range or given twice.
Ints normal_axes(const Ints& axes, std::size_t rank, const Origin& origin = {});
/// One axis counted from the end where negative. Throws ShapeError where it is out of range.
std::size_t normal_axis(SymInt axis, std::size_t rank, const Origin& origin = {});

/// "FloorDiv" -> "floor_div".
std::string snake_name(Op op);

}  // namespace oriel::graph
