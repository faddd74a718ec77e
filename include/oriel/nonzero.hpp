// Functions whose results have sizes that depend on data. They compute their operands at once, because a tensor has
// sizes from the start; on the null device they are a DeviceError. In a captured function the size is a symbol, and the
// operands are computed in each call (oriel/function.hpp).
#pragma once

#include "oriel/api.hpp"
#include "oriel/tensor.hpp"

namespace ORIEL_API oriel {

/// The positions of the elements that are not 0, as int64 of shape (count, rank), in row-major order, as
/// torch.nonzero. NaN is not 0. A tensor without axes gives (1, 0) or (0, 0).
///   nonzero(Tensor::of<int>({{0, 5}, {6, 0}}));  // {{0, 1}, {1, 0}}
/// The result is row-major in memory, too; PyTorch's is column-major.
[[nodiscard]] Tensor nonzero(const Operand& x);

/// The elements of x where `mask` is true, as one axis, in row-major order, as torch.masked_select. x and the mask are
/// broadcast together. Throws DTypeError unless the mask is bool, ShapeError if they do not broadcast.
///   masked_select(x, x > 0);
[[nodiscard]] Tensor masked_select(const Operand& x, const Operand& mask);

/// The distinct elements of x in ascending order, as one axis, as torch.unique. NaNs come last, each by itself, for
/// they are not equal. Of 0 and -0, which are equal, the first one counts.
///   unique(Tensor::of<int>({3, 1, 3}));  // {1, 3}
[[nodiscard]] Tensor unique(const Operand& x);

/// The distinct entries along an axis (rows, for axis 0), in ascending order of their elements from the first on, as
/// torch.unique with dim. Entries with a NaN are each by themselves. Throws ShapeError for an axis that x lacks.
///   unique(Tensor::of<int>({{2, 1}, {1, 5}, {2, 1}}), 0);  // {{1, 5}, {2, 1}}
[[nodiscard]] Tensor unique(const Operand& x, std::int64_t axis);

/// The distinct elements of x that are (are not) elements of y, in ascending order, as one axis: numpy.intersect1d, in
/// the promoted dtype, and numpy.setdiff1d, in the dtype of x. Elements are compared by value, and NaNs equal nothing.
///   intersect1d(Tensor::of<int>({3, 1, 3}), Tensor::of<int>({3, 2}));  // {3}
/// @{
[[nodiscard]] Tensor intersect1d(const Operand& x, const Tensor& y);
[[nodiscard]] Tensor setdiff1d(const Operand& x, const Tensor& y);
/// @}

/// The result of unique_all.
struct UniqueElements {
  Tensor values;   ///< as unique
  Tensor inverse;  ///< int64, of the shape of x, or one for each entry: where it is in `values`
  Tensor counts;   ///< int64: how often each value occurs
  Tensor first;    ///< int64: the number of the first element or entry with each value (numpy.unique's return_index)
};
/// The distinct elements, where each element went, and how often each occurs, as torch.unique with return_inverse and
/// return_counts.
UniqueElements unique_all(const Operand& x);
/// The same of the entries along an axis.
UniqueElements unique_all(const Operand& x, std::int64_t axis);

/// The only element of integers or bools as a size, as Tensor.item in PyTorch. It is read at once; in a captured
/// function it is a symbol without a hint and of any sign, which each call reads. Shapes, bounds of slices and operands
/// may be made of it. State what they need of it (constrain_range, expect_true), which each call checks. Throws
/// ShapeError unless there is exactly one element, DTypeError for floats.
///   const SymInt n = item(length);
///   constrain_range(n, {0, x.size(0)});   // x has a fixed size
///   return x.slice({{0, n}});
SymInt item(const Operand& x);

}  // namespace oriel
