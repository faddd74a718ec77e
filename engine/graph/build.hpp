// Makes nodes. Holds the rules of shapes and dtypes, and the errors of calls that break them.
//
// Elementwise builders take sources of one shape and one dtype; callers promote and broadcast with the helpers at the
// end. Some calls make no new node: a movement that changes nothing and a cast to the same dtype return their source, a
// movement of a Const is a Const, and a reshape of a reshape is one reshape.
#pragma once

#include <span>
#include <string_view>

#include "base/by_use.hpp"
#include "graph/node.hpp"
#include "graph/op.hpp"

namespace oriel::graph {

/// An op with all that its nodes need in the program (base/by_use.hpp): of an op that is known where it is given, that
/// is all that a linker finds there.
class UsedOp {
 public:
  [[gnu::always_inline]] UsedOp(Op op) : op_(op) {  // NOLINT(google-explicit-constructor): callers give an op
    if (ops::row(op).functor == ops::FunctorKind::Function) by_use::functions();
    if (ops::is_reduce(op) && op != Op::Sum) by_use::reductions();
  }
  operator Op() const noexcept { return op_; }  // NOLINT(google-explicit-constructor)

 private:
  Op op_;
};

/// The call for which a node is made: the name with which errors start (empty: the op's name in snake case), and the
/// line.
struct Origin {
  std::string_view operation = {};
  Site site = Site::unknown();
};

/// `value` at every index.
NodePtr constant(const Scalar& value, const Shape& shape, Device device = {}, const Origin& origin = {});
/// The number `n`, a size, at every index. For a symbolic size: a Const whose argument is the size.
NodePtr size_constant(SymInt n, DType dtype, const Shape& shape, Device device = {}, const Origin& origin = {});
/// Is the number of a Const 0? A symbolic size is not.
bool is_zero(const Node& constant) noexcept;
/// Are both the same for all values of their symbols? Records no guard: for shortcuts that change no result.
bool known_same(const Shape& a, const Shape& b);
/// Does the view show the row-major elements of its shape, from the first one on, for all values of its symbols?
bool is_identity(const View& view);
/// int64 positions: element i is the row-major position of index i of `shape`.
NodePtr iota(const Shape& shape, Device device = {}, const Origin& origin = {});
/// The first numel(shape) elements of `buffer`. Throws ArgumentError if the buffer is too small.
NodePtr leaf(mem::BufferPtr buffer, DType dtype, const Shape& shape, const Origin& origin = {});

/// Is it a pending Const or Iota? These go to the device that reads them.
bool movable(const Node& node) noexcept;
/// A copy of a movable node on another device.
NodePtr moved_to(Device device, const Node& node, const Origin& origin = {});

// These throw DTypeError if the op does not take the dtype, ShapeError if the sources' shapes differ, and DeviceError
// if the sources are on different devices.
NodePtr unary(UsedOp op, NodePtr x, const Origin& origin = {});
NodePtr binary(UsedOp op, NodePtr a, NodePtr b, const Origin& origin = {});
/// c ? x : y; `c` is bool.
NodePtr where(NodePtr c, NodePtr x, NodePtr y, const Origin& origin = {});
NodePtr cast(NodePtr x, DType dtype, const Origin& origin = {});
/// The same bits as another dtype. Throws DTypeError if the widths differ.
NodePtr bitcast(NodePtr x, DType dtype, const Origin& origin = {});

/// Gives a Const that was just made these strides, which makes it a tensor. Other Consts are numbers, which do not
/// influence the layout of results.
NodePtr laid_out_constant(NodePtr node, Layout layout);

// These throw ShapeError, which names the source's shape and what would fit.
NodePtr reshape(NodePtr x, const Shape& shape, const Origin& origin = {});
/// Axis d of the result is axis order[d] of the source.
NodePtr permute(NodePtr x, const Ints& order, const Origin& origin = {});
/// The same rank; axes of extent 1 may grow.
NodePtr expand(NodePtr x, const Shape& shape, const Origin& origin = {});
NodePtr shrink(NodePtr x, const Ranges& ranges, const Origin& origin = {});
/// Adds zeros; ranges[d] = {before, after}, both >= 0.
NodePtr pad(NodePtr x, const Ranges& before_after, const Origin& origin = {});
/// `axes` is ascending without repeats, each in [0, rank).
NodePtr flip(NodePtr x, const Ints& axes, const Origin& origin = {});
/// The same elements, which lie in the format's order wherever they are stored. For preserve, returns the source.
/// Throws ShapeError if the rank is not that of the format.
NodePtr format(NodePtr x, MemoryFormat format, const Origin& origin = {});
/// The same elements, with these strides in memory. If the strides are not dense, dense strides of the same order are
/// used.
NodePtr format(NodePtr x, const Ints& strides, const Origin& origin = {});
/// Element i of the result is element view.at(i) of the source's row-major elements, or zero if that is invalid. Throws
/// ShapeError if the view leaves the source.
NodePtr raw_view(NodePtr x, const View& view, const Origin& origin = {});
/// As raw_view(), for a view that is known to read inside of x: asks nothing about symbolic sizes.
NodePtr view_inside(NodePtr x, const View& view, const Origin& origin = {});

/// Element i of the result is the element of x at the row-major position index[i], or 0 if that is not in [0,
/// numel(x)). Throws DTypeError if the index is not int64.
NodePtr gather(NodePtr x, NodePtr index, const Origin& origin = {});

/// The same elements on another device, with the strides of a new tensor like x (Layout::preserved). Returns x if it is
/// there already. A copy of a copy copies the original; a Const or Iota moves.
NodePtr copy(NodePtr x, Device device, const Origin& origin = {});

/// Says of a Max or Min that nobody else knows yet what its derivatives are where the sources are equal.
NodePtr tied(NodePtr extreme, Tie tie);
/// Marks a comparison that nobody else knows yet as written with swapped operands, which matters for its layout.
NodePtr mirrored(NodePtr comparison);

/// The target after a write: its row-major element where.at(i) becomes element i of `value`; the others stay. A null
/// `where` is a write of all. `value` has the dtype of the target and the shape of `where`. The caller makes sure that
/// `where` is valid everywhere and meets no element twice (view/stacks/injective.hpp). If nothing reads the target's
/// old elements any more, its memory is reused.
NodePtr assign(NodePtr target, NodePtr value, std::shared_ptr<const ShapeTracker> where, const Origin& origin = {});

/// Reduces `axes` (ascending without repeats, each in [0, rank)), which keep extent 1. Without axes, returns the
/// source.
NodePtr reduce(UsedOp op, NodePtr x, const Ints& axes, const Origin& origin = {});

/// Sorts along the last axis, ascending or descending. The result holds the values (Sort) or their int64 positions on
/// the axis (ArgSort), as the table of ops defines. x has at least one axis.
NodePtr sort(Op op, NodePtr x, bool descending, const Origin& origin = {});
/// Combines the elements up to each one along `axis`, which counts from 0. The result has the dtype scanned(x->dtype).
NodePtr scan(Op op, NodePtr x, std::size_t axis, const Origin& origin = {});
/// Combines the elements of `values` whose positions are equal, one entry of the result for each position in
/// [0, extent). `values` has the result's shape but for `axis`, where it has as many entries as there are positions, or
/// no axes: then each element is that number. `positions`, int64, has one axis, and each of them names whole lines of
/// the values, or has the shape of the values. Negative positions count from the end; what lies outside is left out.
/// Op::ScatterLast takes null for `values` and `like` for the shape.
NodePtr scatter(Op op, NodePtr positions, NodePtr values, const Shape& like, std::size_t axis, SymInt extent,
                const Origin& origin = {});
/// y[t] = a[t] * y[t - 1] + b[t] along `axis`, and y[0] = b[0]. Both have one dtype, which is scanned(itself), and one
/// shape, or `a` is one number without axes. If it `restarts`, an a[t] of 0 makes y[t] = b[t] whatever was before, an
/// infinity or NaN too: sums of runs.
NodePtr recurrence(NodePtr a, NodePtr b, std::size_t axis, const Origin& origin = {}, bool restarts = false);
/// What the function makes of one to three sources: a value of this shape and dtype.
NodePtr host_call(HostFunctionPtr function, std::span<NodePtr> sources, const Shape& shape, DType dtype,
                  const Origin& origin = {});
/// The dtype of a scan over elements of `dtype`.
DType scanned(DType dtype) noexcept;

/// The common shape by NumPy's rules. Throws ShapeError, which names both shapes and the axis that differs.
Shape broadcast_shapes(const Shape& a, const Shape& b, const Origin& origin = {});
/// NumPy's broadcast: new axes in front, then expand. Throws ShapeError.
NodePtr broadcast_to(NodePtr x, const Shape& shape, const Origin& origin = {});
/// The same for an operand of an elementwise op. For the layout of the result, x counts with its own axes.
NodePtr broadcast_operand(NodePtr x, const Shape& shape, const Origin& origin = {});
/// States how the strides of `moved`, a movement of `source` that was just made, follow from the source's. Does nothing
/// if `moved` turned out to be another node.
NodePtr with_derived_strides(NodePtr moved, const NodePtr& source, AxisStrides strides);
/// The same elements in the same shape with other strides, which matter only on axes of one element. Without strides:
/// those of a reshape to this shape.
NodePtr with_unit_axis_strides(NodePtr x, AxisStrides strides, const Origin& origin = {});
/// The axes counted from 0 and sorted; negative ones count from the end. Throws ShapeError if one is out of range or
/// repeated.
Ints normal_axes(const Ints& axes, std::size_t rank, const Origin& origin = {});
/// The axis counted from 0; a negative one counts from the end. Throws ShapeError if it is out of range.
std::size_t normal_axis(SymInt axis, std::size_t rank, const Origin& origin = {});

/// For example "FloorDiv" -> "floor_div".
std::string snake_name(Op op);

}  // namespace oriel::graph
