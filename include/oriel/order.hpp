// Order: the largest elements, medians and quantiles, and searching in sorted elements, as compositions of sort,
// argsort (reduce.hpp) and gathers. A NaN counts as larger than all numbers. Sorting is stable, so of equal elements
// the first one is chosen, where PyTorch leaves the choice open. Every function throws ShapeError for an axis out of
// range; a tensor without axes counts as one of one element. The definitions are PyTorch's, unless a comment names
// another.
#pragma once

#include <vector>

#include "oriel/api.hpp"
#include "oriel/list.hpp"
#include "oriel/tensor.hpp"

namespace ORIEL_API oriel {

/// Elements, and their positions along the axis.
struct Ordered {
  Tensor values;     ///< in the dtype of x
  Tensor positions;  ///< int64
};

/// The k largest (smallest) elements along an axis, in order; the axis has extent k. Throws ArgumentError unless k is
/// in [0, extent].
///   topk(Tensor::of<int>({3, 1, 4, 1, 5}), 2).values;  // {5, 4}
[[nodiscard]] Ordered topk(const Operand& x, std::int64_t k, std::int64_t axis = -1, bool largest = true);
/// The k-th smallest element along an axis, counted from 1. Throws ArgumentError unless k is in [1, extent].
[[nodiscard]] Ordered kthvalue(const Operand& x, std::int64_t k, std::int64_t axis = -1, KeepDim keepdim = false);
/// The element in the middle of the sorted axis, the lower one of two (numpy.median takes their mean, as quantile does
/// for 0.5). A NaN if there is one. Throws ShapeError for an axis without elements.
[[nodiscard]] Ordered median(const Operand& x, std::int64_t axis, KeepDim keepdim = false);
/// The median of all elements; NaN over none.
[[nodiscard]] Tensor median(const Operand& x);
/// The same of the elements that are not NaN; NaN if all are.
/// @{
[[nodiscard]] Ordered nanmedian(const Operand& x, std::int64_t axis, KeepDim keepdim = false);
[[nodiscard]] Tensor nanmedian(const Operand& x);
/// @}
/// The largest (smallest) element along an axis, and its first position, in one pass over x: argmax (argmin) and what
/// is there. NaN if there is one. Throws ShapeError for an axis without elements. torch.max and torch.min of an axis.
///   max_with_indices(Tensor::of<int>({3, 9, 9}), 0);  // values 9, positions 1
/// @{
[[nodiscard]] Ordered max_with_indices(const Operand& x, std::int64_t axis, KeepDim keepdim = false);
[[nodiscard]] Ordered min_with_indices(const Operand& x, std::int64_t axis, KeepDim keepdim = false);
/// @}
/// The most frequent element along an axis, the smallest of several. NaN count as equal to each other. Throws
/// ShapeError for an axis without elements.
[[nodiscard]] Tensor mode(const Operand& x, std::int64_t axis = -1, KeepDim keepdim = false);

/// What quantile() takes between two elements: a mean weighted by distance; the smaller; the larger; the nearest, of
/// two as near the one with the even position; the mean.
enum class Between { linear, lower, higher, nearest, midpoint };
/// The element at the position q * (extent - 1) of the sorted axis, in floats; NaN if there is one. Between two
/// elements nothing overflows, and a mean of an infinity and a number is that infinity. Throws ArgumentError unless q
/// is in [0, 1], ShapeError for an axis without elements.
///   quantile(x, 0.5, -1)
[[nodiscard]] Tensor quantile(const Operand& x, double q, std::int64_t axis, KeepDim keepdim = false,
                              Between between = Between::linear);
/// Several quantiles, along a new first axis.
[[nodiscard]] Tensor quantile(const Operand& x, const std::vector<double>& q, std::int64_t axis,
                              KeepDim keepdim = false, Between between = Between::linear);

/// quantile(x, q / 100, ..). Throws ArgumentError unless q is in [0, 100]. numpy.percentile.
/// @{
[[nodiscard]] Tensor percentile(const Operand& x, double q, std::int64_t axis, KeepDim keepdim = false,
                                Between between = Between::linear);
[[nodiscard]] Tensor percentile(const Operand& x, const std::vector<double>& q, std::int64_t axis,
                                KeepDim keepdim = false, Between between = Between::linear);
/// @}

/// quantile of the elements that are not NaN; NaN if all are. numpy.nanquantile, torch.nanquantile.
/// @{
[[nodiscard]] Tensor nanquantile(const Operand& x, double q, std::int64_t axis, KeepDim keepdim = false,
                                 Between between = Between::linear);
[[nodiscard]] Tensor nanquantile(const Operand& x, const std::vector<double>& q, std::int64_t axis,
                                 KeepDim keepdim = false, Between between = Between::linear);
/// @}

/// The elements along an axis with the one of place k where sorting puts it, smaller ones in front of it and larger
/// ones behind. Here all are sorted, which numpy.partition need not do. A negative k counts from the end. Throws
/// ArgumentError unless k is a place of the axis.
[[nodiscard]] Tensor partition(const Operand& x, std::int64_t k, std::int64_t axis = -1);
/// The positions of the same elements, as int64 (numpy.argpartition).
[[nodiscard]] Tensor argpartition(const Operand& x, std::int64_t k, std::int64_t axis = -1);
/// The positions that sort an axis by several keys of one shape, of which the last counts most, as int64. Equal entries
/// keep their order. Throws ArgumentError for no keys, ShapeError if shapes differ. numpy.lexsort.
///   rows.take(lexsort({rows.select(1, 1), rows.select(1, 0)}))  // rows by column 0, and by column 1 where it is equal
[[nodiscard]] Tensor lexsort(ListOf<Tensor> keys, std::int64_t axis = -1, Site site = Site::here());

/// The position in `sorted` at which each element of `values` would be put in to keep the order, as int64: in front of
/// equal elements, or behind them if `right`. `sorted` is a vector, or has the axes of `values` and is searched along
/// the last one. Nothing checks that it is sorted. A NaN goes to the end. Elements of different dtypes are compared by
/// their values: nothing is rounded to a common dtype. Costs log2(extent) reads for each value; in a captured function
/// of symbolic extents 16, where one entry serves all extents below 65536, and 32 or 48 beyond. Throws ShapeError if
/// the shapes do not fit.
///   searchsorted(Tensor::of<int>({1, 3, 5}), Tensor::of<int>({3, 4}));  // {1, 2}
[[nodiscard]] Tensor searchsorted(const Tensor& sorted, const Operand& values, bool right = false);
/// searchsorted of a vector of boundaries.
[[nodiscard]] Tensor bucketize(const Operand& x, const Tensor& boundaries, bool right = false);
/// True where an element of x is one of `elements`, as bool of the shape of x. NaN equals nothing. Compared by value,
/// as searchsorted does.
[[nodiscard]] Tensor isin(const Operand& x, const Tensor& elements);
/// The value at each x of the line through the points (xp, fp), in floats; beyond the ends fp of the end
/// (numpy.interp). xp is sorted; an infinite point is far from every other. Throws ShapeError unless xp and fp are
/// vectors as long, with elements.
[[nodiscard]] Tensor interp(const Operand& x, const Tensor& xp, const Tensor& fp);

/// @cond
#define ORIEL_OR(value)
ORIEL_ORDER_METHODS(ORIEL_METHOD_BODY)
#undef ORIEL_OR
/// @endcond

}  // namespace oriel
