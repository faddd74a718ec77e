// Movement: the same elements at other indices. Nothing is copied; a movement is part of how a later kernel reads.
//
// All but pad, repeat, roll, concat and stack give views: tensors that name elements of x, see what is written there
// and can be written through (tensor.hpp). Those five have a storage of their own.
//
// Every function here throws ShapeError for axes out of range or named twice and for what its own line says, and
// OverflowError where the number of elements passes 2^63-1.
#pragma once

#include "oriel/settings.hpp"
#include "oriel/tensor.hpp"
#include "oriel/view.hpp"

namespace oriel {

/// Same elements in row-major order. One extent may be -1: it is worked out. Throws where the counts differ, -1 stands
/// twice, or it is ambiguous (0 elements elsewhere). Never copies: where the view of x cannot take the shape, a second
/// view goes on top of it.
///   reshape(x, {2, -1});  // of shape (6): (2, 3)
Tensor reshape(const Operand& x, const Shape& shape);
/// As reshape, for those who want to know that the result reads memory through one view: throws ShapeError as well
/// where the strides of x (Tensor::strides) cannot take the shape, which is where PyTorch's view() throws, and its
/// reshape() copies. What reshape() left of strides that could not take its shape is row-major, and takes every shape;
/// so are padded tensors that are not channels-last, and reductions. A flipped tensor is a view here, so that some
/// shapes are refused that PyTorch's copy would take.
///   view(transpose(x), {-1});  // of shape (2, 3): throws; reshape(transpose(x), {-1}) does not
Tensor view(const Operand& x, const Shape& shape);
/// Axis d of the result is axis order[d] of x. Throws unless `order` names each axis once.
///   permute(x, {1, 0});
Tensor permute(const Operand& x, const Ints& order);
/// Two axes exchanged: by default the last two. Throws where x has fewer than two axes and none are named.
Tensor transpose(const Operand& x, std::int64_t a = -2, std::int64_t b = -1);
/// Drops axes of extent 1: all such, or those named (which must be 1).
Tensor squeeze(const Operand& x, const Axes& axes = {});
/// A new axis of extent 1 at position `axis` of the result (-1: last).
Tensor unsqueeze(const Operand& x, std::int64_t axis);
/// Repeats axes of extent 1, and new leading ones, to `shape`; -1 keeps an extent.
///   broadcast_to(x, {4, 3});  // of shape (3): four equal rows
Tensor broadcast_to(const Operand& x, const Shape& shape);
Tensor expand(const Operand& x, const Shape& shape);
/// One value as broadcast shape for several; throws where they do not broadcast.
Shape broadcast_shape(const Shape& a, const Shape& b);
/// Cuts a box: one [lo, hi) an axis, inside it.   shrink(x, {{0, 2}, {1, 3}})
Tensor shrink(const Operand& x, const Ranges& ranges);
/// Cuts the axes that are named, in the order in which they are; the others stay whole. Throws where there are more or
/// fewer ranges than axes.   shrink(x, {{1, 3}}, -1)
Tensor shrink(const Operand& x, const Ranges& ranges, const Axes& axes);
/// Adds elements around: {before, after} an axis, both >= 0. `value` is a number, cast to the dtype of x; throws
/// ArgumentError where an integer dtype cannot hold it, DTypeError where it has a higher category than x.
///   pad(x, {{0, 0}, {1, 1}}, 7)
Tensor pad(const Operand& x, const Ranges& before_after, const Operand& value = 0);
/// Reverses axes: all, or those named.
Tensor flip(const Operand& x, const Axes& axes = {});
/// Python's slicing, one Slice for each leading axis; the rest stay whole. Throws ArgumentError for step 0 and
/// ShapeError for more slices than axes.
///   slice(x, {{.start = 1}, {.step = -2}})
Tensor slice(const Operand& x, std::span<const Slice> slices);
Tensor slice(const Operand& x, std::initializer_list<Slice> slices);
/// Position `position` of an axis, which vanishes. Negative counts from the end; throws where out of range.
Tensor select(const Operand& x, std::int64_t axis, std::int64_t position);
/// The whole tensor counts[d] times along each axis (>= 0, one an axis).
///   repeat(Tensor::of<int>({1, 2}), {2});  // {1, 2, 1, 2}
Tensor repeat(const Operand& x, const Ints& counts);
/// Moves elements along an axis by `shift`, those pushed off the end come in at the front.
///   roll(Tensor::of<int>({1, 2, 3}), 1, 0);  // {3, 1, 2}
Tensor roll(const Operand& x, std::int64_t shift, std::int64_t axis);
/// Along several axes, each by its own shift; shifts of one axis that is named twice add up. Throws where there are
/// more or fewer shifts than axes.
///   roll(x, {1, -1}, {0, 1})
Tensor roll(const Operand& x, const Ints& shifts, const Ints& axes);
/// Joins along an existing axis, dtypes promoted. Throws ArgumentError for an empty list, ShapeError where other axes
/// differ.
///   concat({a, b}, 0)
Tensor concat(std::span<const Tensor> tensors, std::int64_t axis = 0, Site site = Site::here());
Tensor concat(std::initializer_list<Tensor> tensors, std::int64_t axis = 0, Site site = Site::here());
/// Joins along a new axis. Throws ArgumentError for an empty list, ShapeError where shapes differ.
Tensor stack(std::span<const Tensor> tensors, std::int64_t axis = 0, Site site = Site::here());
Tensor stack(std::initializer_list<Tensor> tensors, std::int64_t axis = 0, Site site = Site::here());
/// Elements whose positions on axes a and b differ by `offset` (b - a), as a new last axis in place of both. Throws
/// where a == b.
///   diagonal(eye(3));  // {1, 1, 1}
Tensor diagonal(const Operand& x, std::int64_t offset = 0, std::int64_t a = 0, std::int64_t b = 1);
/// Windows of `size` along an axis, every `step`: the axis counts windows and a new last axis runs inside one. Throws
/// where size is not in [1, extent] or step < 1.
///   unfold(arange(4), 0, 3, 1);  // {{0, 1, 2}, {1, 2, 3}}
Tensor unfold(const Operand& x, std::int64_t axis, std::int64_t size, std::int64_t step);

/// x's elements, counted in row-major order, through any view: index i of the result is element view.at(i) of x, and 0
/// where the view is masked. A view in this sense too: it can be written through where no two indices share an element.
/// The strides are those of x's row-major elements, which are its own where x is contiguous. Throws ShapeError where a
/// position lies outside of x, and for views that View::make refuses.
///   as_strided(arange(6), View::make({2, 3}, {1, 2}));  // {{0, 2, 4}, {1, 3, 5}}
Tensor as_strided(const Operand& x, const View& view);

/// Entries of x along an axis at the positions that `index` (integers) holds, which count from the end where negative:
/// shape x.shape[..axis] + index.shape + x.shape[axis+1..]. A position outside of the axis gives 0; with
/// Bounds::checked, for this call or for all by set_default_bounds (settings.hpp) or ORIEL_BOUNDS=checked, it is an
/// IndexError. Throws DTypeError for an index of another kind, ShapeError for an axis that x lacks.
///   take(Tensor::of<float>({{1, 2}, {3, 4}}), Tensor::of<int>({1, 0, 1}), 0);  // {{3, 4}, {1, 2}, {3, 4}}
///   take(x, index, 0, Bounds::checked);                                        // as NumPy: an error, not a 0
Tensor take(const Operand& x, const Tensor& index, std::int64_t axis = 0, Bounds bounds = default_bounds());
/// Element i of the result is x's element at i, but at index[i] along the axis. `index` has x's rank, and on the other
/// axes no larger extents. Positions, and errors, as take.
///   gather(Tensor::of<int>({{1, 2}, {3, 4}}), Tensor::of<int>({{1}, {0}}), 1);  // {{2}, {3}}
Tensor gather(const Operand& x, const Tensor& index, std::int64_t axis, Bounds bounds = default_bounds());

}  // namespace oriel
