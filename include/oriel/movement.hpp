// Movements give the same elements other indices. They copy nothing: a movement only changes how later kernels read.
//
// The results of pad, repeat, roll, concat, stack, take and gather have a storage of their own. All other results are
// views: they name elements of x, show what is written to them, and can be written through (tensor.hpp).
//
// Every function here throws ShapeError for axes that are out of range or named twice, and OverflowError if the number
// of elements exceeds 2^63-1. Where a comment says "Throws" without a type, it means ShapeError.
#pragma once

#include "oriel/api.hpp"
#include "oriel/list.hpp"
#include "oriel/settings.hpp"
#include "oriel/tensor.hpp"

namespace ORIEL_API oriel {

struct View;

namespace detail {
/// The number of axes of a tensor; 0 for a number.
std::size_t rank_of(const Operand& x);
}  // namespace detail

/// The same elements in row-major order with another shape. One extent may be -1 and is then computed. Throws if the
/// numbers of elements differ, if -1 occurs twice, or if its value is ambiguous (another extent is 0). Never copies: if
/// the view of x cannot take the shape, a second view is put on top of it.
///   reshape(x, {2, -1});  // of shape (6): (2, 3)
[[nodiscard]] Tensor reshape(const Operand& x, const Shape& shape);
/// The shape without braces: reshape(x, -1), reshape(x, 4, 3).
template <detail::Size T, detail::Size... More>
[[nodiscard]] Tensor reshape(const Operand& x, T extent, More... more) {
  return reshape(x, Shape{extent, more...});
}
/// As reshape, but also throws if the strides of x (Tensor::strides) cannot take the shape. PyTorch's view() throws in
/// the same cases, and its reshape() copies in them. Row-major tensors take every shape: reductions, padded tensors
/// that are not channels-last, and results of a reshape() that the strides could not take. In PyTorch a flip is a copy;
/// here it is a view, so that view() refuses some shapes of flipped tensors that PyTorch accepts.
///   view(transpose(x), {-1});  // of shape (2, 3): throws; reshape(transpose(x), {-1}) does not
[[nodiscard]] Tensor view(const Operand& x, const Shape& shape);
/// Axis d of the result is axis order[d] of x. Throws unless `order` names each axis once.
///   permute(x, {1, 0});
[[nodiscard]] Tensor permute(const Operand& x, const Ints& order);
/// Exchanges two axes, by default the last two. Throws if no axes are named and x has fewer than two.
[[nodiscard]] Tensor transpose(const Operand& x, std::int64_t a = -2, std::int64_t b = -1);
// clang-format off
/// Does not compile.
template <class T> detail::Nothing transpose(const Operand&, std::initializer_list<T>) { static_assert(detail::kNever<T>, "permute(x, {1, 0}) names all axes, transpose(x, a, b) exchanges two"); return {}; }
// clang-format on
/// Drops axes of extent 1: all of them, or the named ones. Throws if a named axis has another extent.
[[nodiscard]] Tensor squeeze(const Operand& x, const Axes& axes = {});
/// Adds an axis of extent 1 at position `axis` of the result (-1: last).
[[nodiscard]] Tensor unsqueeze(const Operand& x, std::int64_t axis);
/// Repeats axes of extent 1, and new leading ones, to `shape`; -1 keeps an extent.
///   broadcast_to(x, {4, 3});  // of shape (3): four equal rows
[[nodiscard]] Tensor broadcast_to(const Operand& x, const Shape& shape);
[[nodiscard]] Tensor expand(const Operand& x, const Shape& shape);
/// The shape to which two shapes broadcast, as in NumPy. Throws if they do not broadcast.
Shape broadcast_shape(const Shape& a, const Shape& b);
/// Cuts out a box: one range [lo, hi) per axis, which must lie inside the axis.
///  shrink(x, {{0, 2}, {1, 3}})
[[nodiscard]] Tensor shrink(const Operand& x, const Ranges& ranges);
/// Cuts the named axes: ranges[k] belongs to axes[k]. The other axes stay whole. Throws if the numbers of ranges and
/// axes differ.
///  shrink(x, {{1, 3}}, -1)
[[nodiscard]] Tensor shrink(const Operand& x, const Ranges& ranges, const Axes& axes);
/// Adds elements with `value` at the ends of the axes: {before, after} per axis, both >= 0. `value` is a number and is
/// cast to the dtype of x. Throws ArgumentError if an integer dtype cannot hold it, DTypeError if its category is
/// higher than that of x (bool < integer < float).
///   pad(x, {{0, 0}, {1, 1}}, 7)
[[nodiscard]] Tensor pad(const Operand& x, const Ranges& before_after, const Operand& value = 0);
/// The same for a tensor of one axis.
///   pad(x, {1, 1})
[[nodiscard]] Tensor pad(const Operand& x, const AxisEnds& before_after, const Operand& value = 0);
/// The same number of elements at both ends of every axis.
///   pad(x, 1)
template <detail::Size T>
[[nodiscard]] Tensor pad(const Operand& x, T at_each_end, const Operand& value = 0) {
  return pad(x, Ranges(detail::rank_of(x), Range{at_each_end, at_each_end}), value);
}
/// Reverses all axes, or the named ones.
[[nodiscard]] Tensor flip(const Operand& x, const Axes& axes = {});
/// Every n-th element along each axis, from the first one on: index i reads i * steps. Throws ShapeError unless there
/// is one step for each axis, and all are 1 or more.
///   every(x, {2, 1});  // of shape (5, 3): shape (3, 3)
[[nodiscard]] Tensor every(const Operand& x, const Ints& steps);
/// Python's slicing, with one Slice for each leading axis. The other axes stay whole. Throws ArgumentError for step 0
/// and ShapeError for more slices than axes.
///   slice(x, {{.start = 1}, {.step = -2}})
[[nodiscard]] Tensor slice(const Operand& x, ListOf<Slice> slices);
/// The elements at one position of an axis; the result lacks the axis. A negative position counts from the end. Throws
/// if the position is out of range.
[[nodiscard]] Tensor select(const Operand& x, std::int64_t axis, SymInt position);
/// Repeats the tensor counts[d] times along axis d. `counts` holds one number >= 0 per axis.
///   repeat(Tensor::of<int>({1, 2}), {2});  // {1, 2, 1, 2}
/// This is NumPy's tile. NumPy's repeat, which repeats each element, is x.unsqueeze(-1).expand({.., n}).reshape(-1).
[[nodiscard]] Tensor repeat(const Operand& x, const Ints& counts);
// The results of roll, concat and stack have PyTorch's strides: those of a channels-last format if all tensors that are
// joined have it, else row-major ones. roll joins two parts of x, so a roll by 0 is row-major, too.

/// Moves elements along an axis by `shift` positions. Elements that move past the end reappear at the front.
///   roll(Tensor::of<int>({1, 2, 3}), 1, 0);  // {3, 1, 2}
[[nodiscard]] Tensor roll(const Operand& x, std::int64_t shift, std::int64_t axis);
/// The same for all elements in row-major order (numpy.roll without an axis).
[[nodiscard]] Tensor roll(const Operand& x, std::int64_t shift);
/// Moves elements along several axes, each by its own shift. If an axis is named twice, its shifts add up. Throws if
/// the numbers of shifts and axes differ.
///   roll(x, {1, -1}, {0, 1})
[[nodiscard]] Tensor roll(const Operand& x, const Ints& shifts, const Ints& axes);
/// Joins tensors along an existing axis. Their dtypes are promoted. Throws ArgumentError for an empty list, ShapeError
/// if the extents of the other axes differ.
///   concat({a, b}, 0)
[[nodiscard]] Tensor concat(ListOf<Tensor> tensors, std::int64_t axis = 0, Site site = Site::here());
/// Joins tensors of equal shapes along a new axis. Throws ArgumentError for an empty list, ShapeError if shapes differ.
[[nodiscard]] Tensor stack(ListOf<Tensor> tensors, std::int64_t axis = 0, Site site = Site::here());
/// Do not compile: tensors are a list.
/// @{
// clang-format off
namespace detail { template <class T> Nothing list_of_tensors() { static_assert(kNever<T>, "the tensors are one list: concat({x, y}, axis), stack({x, y}, axis), hstack({x, y})"); return {}; } }
#define ORIEL_LIST_OF_TENSORS(name) \
  template <std::same_as<Tensor> T> detail::Nothing name(const Tensor&, const T&, const auto&...) { struct name##_of; return detail::list_of_tensors<name##_of>(); }
ORIEL_LIST_OF_TENSORS(concat) ORIEL_LIST_OF_TENSORS(stack)
    // clang-format on
    /// @}
    /// The elements whose position on axis b minus that on axis a is `offset`. They form a new last axis in place of
    /// both axes. Throws if a == b.
    ///   diagonal(eye(3));  // {1, 1, 1}
    [[nodiscard]] Tensor diagonal(const Operand& x, std::int64_t offset = 0, std::int64_t a = 0, std::int64_t b = 1);
/// Overlapping windows of `size` elements along an axis, one every `step` elements. The axis then counts the windows,
/// and a new last axis holds the elements of a window. Throws if size is not in [1, extent] or step < 1.
///   unfold(arange(4), 0, 3, 1);  // {{0, 1, 2}, {1, 2, 3}}
[[nodiscard]] Tensor unfold(const Operand& x, std::int64_t axis, std::int64_t size, std::int64_t step);

/// Reads x through any view: element i of the result is element view.at(i) of x, counted in row-major order, and 0
/// where the view is masked. The result can be written through unless it is masked or two of its indices share an
/// element. The view's strides refer to the row-major order of x, whatever the strides of x in memory. Throws if a
/// position lies outside x, and for views that View::make refuses.
///   as_strided(arange(6), View::make({2, 3}, {1, 2}));  // {{0, 2, 4}, {1, 3, 5}}
[[nodiscard]] Tensor as_strided(const Operand& x, const View& view);

/// The entries of x along an axis at the positions in `index`, a tensor of integers. Negative positions count from the
/// end. The result has shape x.shape[..axis] + index.shape + x.shape[axis+1..]. A position outside the axis is an
/// IndexError: here if the positions are known (few, and in memory), else when the work runs. With Bounds::zero it is
/// not checked and gives 0. Throws DTypeError if `index` does not hold integers, ShapeError for an axis that x lacks.
///   take(Tensor::of<float>({{1, 2}, {3, 4}}), Tensor::of<int>({1, 0, 1}), 0);  // {{3, 4}, {1, 2}, {3, 4}}
///   take(x, index, 0, Bounds::zero);                                           // the fast form: 0, not an error
[[nodiscard]] Tensor take(const Operand& x, const Tensor& index, std::int64_t axis = 0,
                          Bounds bounds = default_bounds());
/// Element i of the result is the element of x at index i, with i[axis] replaced by index[i]. The result has the shape
/// of `index`, which has the rank of x and no larger extents on the other axes. Positions and errors as for take.
///   gather(Tensor::of<int>({{1, 2}, {3, 4}}), Tensor::of<int>({{1}, {0}}), 1);  // {{2}, {3}}
[[nodiscard]] Tensor gather(const Operand& x, const Tensor& index, std::int64_t axis, Bounds bounds = default_bounds());

}  // namespace oriel
