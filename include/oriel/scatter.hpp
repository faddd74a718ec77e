// Writing and combining at positions that are data: the inverse of take and gather (movement.hpp), and what is made of
// it. Negative positions count from the end. A position outside the axis is an IndexError, of the call or of the work
// (as for take); with Bounds::zero it is not checked and changes nothing. Where positions are equal, elements are
// combined in the order in which they come, so results are the same in every run and for any number of threads. (OpenCL
// sorts the positions, and adds floats in another order.) Floats of 16 bits are combined in float32 and rounded once.
// Positions are integers of any dtype; DTypeError else. ShapeError for an axis that x lacks. PyTorch gives the
// definitions where no other is named.
//
// Each function gives a new tensor. x.assign_at and x.add_at (tensor.hpp) write into one; for a few positions that the
// program knows, x[i] = value is better.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "oriel/api.hpp"
#include "oriel/reduce.hpp"
#include "oriel/settings.hpp"
#include "oriel/tensor.hpp"

namespace ORIEL_API oriel {

/// In a reduction by positions: does the element that x has there count as one of those that are combined? If not, it
/// stays only where no position points.
enum class IncludeSelf : bool { no, yes };

// ---- One position for each line along an axis: `index` has any shape, and `values` is broadcast to the shape of
// take(x, index, axis), within the dtypes that Tensor::assign converts.

/// x with other entries. The last of equal positions counts. NumPy's x[index] = values is x.assign_at(index, values);
/// PyTorch's index_copy.
///   put(zeros(4), Tensor::of<int>({1, -1, 1}), Tensor::of<float>({5, 6, 7}));  // {0, 7, 0, 6}
[[nodiscard]] Tensor put(const Operand& x, const Tensor& index, const Operand& values, std::int64_t axis = 0,
                         Bounds bounds = default_bounds());
/// The values are added, for equal positions all of them. np.add.at(x, index, values) is x.add_at(index, values);
/// PyTorch's index_add. Throws DTypeError for bool.
///   put_add(zeros(4), Tensor::of<int>({1, -1, 1}), 1);  // {0, 2, 0, 1}
[[nodiscard]] Tensor put_add(const Operand& x, const Tensor& index, const Operand& values, std::int64_t axis = 0,
                             Bounds bounds = default_bounds());
/// put_add by its name in PyTorch.
[[nodiscard]] Tensor index_add(const Operand& x, const Tensor& index, const Operand& values, std::int64_t axis = 0,
                               Bounds bounds = default_bounds());
/// The values are combined with each other, and with x as `self` says. Throws DTypeError for sums, products and means
/// of bool.
///   index_reduce(ones(3), Tensor::of<int>({2, 2}), Tensor::of<float>({3, 4}), Combine::prod);  // {1, 1, 12}
[[nodiscard]] Tensor index_reduce(const Operand& x, const Tensor& index, const Operand& values, Combine combine,
                                  std::int64_t axis = 0, IncludeSelf self = IncludeSelf::yes,
                                  Bounds bounds = default_bounds());
/// x[index[0], index[1], ...] = values, or += with `accumulate`: the positions along the first axes, broadcast
/// together. `values` is broadcast to their shape and the other axes of x. Throws ArgumentError unless there are 1 to
/// x.rank() of them.
///   index_put(zeros({2, 2}), {Tensor::of<int>({0, 1}), Tensor::of<int>({1, 1})}, 5);  // {{0, 5}, {0, 5}}
[[nodiscard]] Tensor index_put(const Operand& x, const std::vector<Tensor>& index, const Operand& values,
                               bool accumulate = false, Bounds bounds = default_bounds());
/// x[index[0], index[1], ...]: the entries at positions along the first axes, broadcast together; of their shape and
/// the other axes of x. Positions as for take. Throws ArgumentError unless there are 1 to x.rank() of them.
///   at_indices(x, {Tensor::of<int>({0, 1}), Tensor::of<int>({1, -1})});  // NumPy's x[[0, 1], [1, -1]]
[[nodiscard]] Tensor at_indices(const Operand& x, const std::vector<Tensor>& index, Bounds bounds = default_bounds());
/// take of a vector of positions; ShapeError for any other index.
[[nodiscard]] Tensor index_select(const Operand& x, std::int64_t axis, const Tensor& index,
                                  Bounds bounds = default_bounds());
/// Rows of a table: take(table, index, 0).
///   embedding(Tensor::of<int>({2, 0}), table);
[[nodiscard]] Tensor embedding(const Tensor& index, const Operand& table, Bounds bounds = default_bounds());

// ---- One position for each element: `index` has the rank of x and, but for the axis, no larger extents.

/// x with values[i] at index i with i[axis] replaced by index[i]. `values` is a number or has at least the extents of
/// `index`; the rest is not used. The last of equal positions counts. Throws ShapeError if the shapes do not fit.
///   scatter(zeros({2, 3}), Tensor::of<int>({{2}, {0}}), 1, 1);  // {{0, 0, 1}, {1, 0, 0}}
[[nodiscard]] Tensor scatter(const Operand& x, const Tensor& index, const Operand& values, std::int64_t axis,
                             Bounds bounds = default_bounds());
/// The same, added. Throws DTypeError for bool.
[[nodiscard]] Tensor scatter_add(const Operand& x, const Tensor& index, const Operand& values, std::int64_t axis,
                                 Bounds bounds = default_bounds());
/// The same, combined as index_reduce does.
[[nodiscard]] Tensor scatter_reduce(const Operand& x, const Tensor& index, const Operand& values, std::int64_t axis,
                                    Combine combine, IncludeSelf self = IncludeSelf::yes,
                                    Bounds bounds = default_bounds());
/// gather and scatter with x, `index` and `values` broadcast together on all other axes, as NumPy's functions of these
/// names do.
/// @{
[[nodiscard]] Tensor take_along_axis(const Operand& x, const Tensor& index, std::int64_t axis,
                                     Bounds bounds = default_bounds());
[[nodiscard]] Tensor put_along_axis(const Operand& x, const Tensor& index, const Operand& values, std::int64_t axis,
                                    Bounds bounds = default_bounds());
/// @}

/// x with the elements of `values`, in their order, where `mask` is true. The mask is broadcast to x. Elements that
/// `values` lacks are 0. Throws DTypeError unless the mask is bool.
[[nodiscard]] Tensor masked_scatter(const Operand& x, const Operand& mask, const Operand& values);

// ---- Groups: entries of `values` along an axis, each in the group that `groups` (n), a vector of integers, names.
// The result has `count` groups along the axis. jax.ops' functions of these names.

/// The elements of each group, combined. A group without elements is 0, 1, the dtype's lowest, its highest; the mean is
/// 0. Throws ShapeError if `groups` is no vector, or not as long as the axis.
///   segment_sum(Tensor::of<float>({1, 2, 3}), Tensor::of<int>({0, 2, 0}), 3);  // {4, 0, 2}
/// @{
[[nodiscard]] Tensor segment_sum(const Operand& values, const Tensor& groups, SymInt count, std::int64_t axis = 0,
                                 Bounds bounds = default_bounds());
[[nodiscard]] Tensor segment_prod(const Operand& values, const Tensor& groups, SymInt count, std::int64_t axis = 0,
                                  Bounds bounds = default_bounds());
[[nodiscard]] Tensor segment_max(const Operand& values, const Tensor& groups, SymInt count, std::int64_t axis = 0,
                                 Bounds bounds = default_bounds());
[[nodiscard]] Tensor segment_min(const Operand& values, const Tensor& groups, SymInt count, std::int64_t axis = 0,
                                 Bounds bounds = default_bounds());
[[nodiscard]] Tensor segment_mean(const Operand& values, const Tensor& groups, SymInt count, std::int64_t axis = 0,
                                  Bounds bounds = default_bounds());
/// @}

/// How often each number from 0 on occurs in x, a tensor of integers, as int64; with `weights`, which has the shape of
/// x, their sums, in the dtype of floats, else in that of sum(). The result has max(x) + 1 elements, at least `least`:
/// reading the largest number realises x; in a captured function each call reads it, and the size is a symbol. Where
/// the count is known, segment_sum(1, x, count) reads nothing. Throws
/// ArgumentError for negative numbers, OverflowError for 2^63-1 and above.
///   bincount(Tensor::of<int>({1, 3, 1}));  // {0, 2, 0, 1}
/// @{
[[nodiscard]] Tensor bincount(const Operand& x, std::int64_t least = 0);
[[nodiscard]] Tensor bincount(const Operand& x, const Tensor& weights, std::int64_t least = 0);
/// @}

/// What numpy.histogram returns.
struct Histogram {
  Tensor counts;  ///< int64, or sums of weights, in their dtype if they are floats, else as sum() gives them
  Tensor edges;   ///< one more than counts, in float64 or the dtype of x
};
/// Options of a histogram.
struct HistogramOptions {
  /// The least and the greatest value that is counted; those of x if none are given, which realises x.
  std::optional<std::pair<double, double>> range = {};
  /// What each element counts, of the shape of x.
  std::optional<Tensor> weights = {};
  /// Divides by the sum of all counts and by the widths, so that the histogram integrates to 1: then counts are
  /// float64.
  bool density = false;
};
/// Counts the elements of x in `bins` intervals of equal width, each with its lower edge, the last one also with its
/// upper one, and no NaN. A range of one value is widened by 0.5 on both sides. Throws ArgumentError for no bins, for a
/// range not finite or not in order, and if the dtype has too few numbers for all edges. numpy.histogram.
[[nodiscard]] Histogram histogram(const Operand& x, std::int64_t bins = 10, const HistogramOptions& options = {});
/// The same in intervals between the elements of `edges`, a vector in ascending order. Elements and edges of different
/// dtypes are compared by value, as searchsorted does.
[[nodiscard]] Histogram histogram(const Operand& x, const Tensor& edges, const HistogramOptions& options = {});
/// Counts points, the rows of x, in boxes: the axes of the result are the columns of x. Throws ShapeError unless x is a
/// matrix with a column for each range, ArgumentError as histogram does. numpy.histogramdd.
[[nodiscard]] Tensor histogramdd(const Operand& x, const std::vector<std::int64_t>& bins,
                                 const std::vector<std::pair<double, double>>& ranges);

/// @cond
#define ORIEL_OR(value)
ORIEL_SCATTER_METHODS(ORIEL_METHOD_BODY)
#undef ORIEL_OR
/// @endcond

}  // namespace oriel
