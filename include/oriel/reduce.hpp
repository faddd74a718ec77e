// Reductions, and functions built from them. `axes` is one axis, a list, or by default all axes; negative axes count
// from the last. The result lacks the reduced axes, or keeps them with extent 1 if `keepdim` is set. An empty list
// reduces nothing. A tensor without axes accepts axis 0 or -1, as if it had one axis of extent 1. NaN propagates.
//
// Every function here throws ShapeError for an axis out of range or named twice.
#pragma once

#include "oriel/api.hpp"
#include "oriel/tensor.hpp"

namespace ORIEL_API oriel {

/// How elements are combined: of a group (scatter.hpp), or along axes of a pattern (products.hpp). In a group, a mean
/// of integers is rounded towards minus infinity.
enum class Combine { sum, prod, mean, amax, amin };

/// Sum. bool and integers are summed in int64 (uint64 in uint64), wrapping. Halves are summed in float32 and rounded
/// once. The sum of no elements is 0. A large sum of products of three or more factors, such as x[i,j,k] y[j,l] z[k,l]
/// over j and k, is computed as products one after the other if that is estimated to take at most half the time; then
/// floats are multiplied and added in another order, and a sum between may overflow. `explain` says so, and
/// ContextOptions::rules_off stops it.
///   sum(x, -1);            // of shape (2, 3): shape (2)
///   sum(x, {0, 1}, true);  // shape (1, 1)
[[nodiscard]] Tensor sum(const Operand& x, const Axes& axes = {}, KeepDim keepdim = false);
// clang-format off
template <std::same_as<bool> T> Tensor sum(const Operand& x, T) { static_assert(detail::kNever<T>, "axes are numbers; all axes, kept with extent 1, are sum(x, {}, true)"); return sum(x); }
// clang-format on
/// Sum of absolute values (BLAS's asum), in one pass. Of floats, in their dtype; halves are summed in float32. Throws
/// DTypeError for others. The sum of no elements is 0.
[[nodiscard]] Tensor asum(const Operand& x, const Axes& axes = {}, KeepDim keepdim = false);
/// Product, in the dtypes of sum. The product of no elements is 1.
[[nodiscard]] Tensor prod(const Operand& x, const Axes& axes = {}, KeepDim keepdim = false);
/// The same of x.to(dtype), in that dtype: float64 keeps more digits, int32 wraps earlier. Halves are summed in float32
/// and rounded once. Throws DTypeError for bool, and for a mean in integers.
///   sum(x, DType::float64, 1)
/// @{
[[nodiscard]] Tensor sum(const Operand& x, DType dtype, const Axes& axes = {}, KeepDim keepdim = false);
[[nodiscard]] Tensor prod(const Operand& x, DType dtype, const Axes& axes = {}, KeepDim keepdim = false);
[[nodiscard]] Tensor mean(const Operand& x, DType dtype, const Axes& axes = {}, KeepDim keepdim = false);
/// @}
/// Largest element, in the dtype of x. Over no elements: the dtype's lowest value (-inf for floats).
[[nodiscard]] Tensor max(const Operand& x, const Axes& axes = {}, KeepDim keepdim = false);
/// Smallest element, in the dtype of x. Over no elements: the dtype's highest value (inf for floats).
[[nodiscard]] Tensor min(const Operand& x, const Axes& axes = {}, KeepDim keepdim = false);
namespace detail {
template <class T>
concept NumberOrSize = std::is_arithmetic_v<T> || std::same_as<T, SymInt>;
template <class A, class B>
concept TwoToCompare = std::same_as<B, Tensor> ||(NumberOrSize<A>&& NumberOrSize<B>);
#define ORIEL_TWO                                                                                                    \
  "max and min reduce a tensor over axes. The larger and smaller one of two are maximum(a, b) and minimum(a, b) of " \
  "tensors, sym_max(a, b) and sym_min(a, b) of sizes, std::max and std::min of numbers"
}  // namespace detail
/// Do not compile: two numbers, or two tensors, have no axes to reduce.
/// @{
template <class A, class B>
requires detail::TwoToCompare<A, B>
void max(const A&, const B&) { static_assert(detail::kNever<A>, ORIEL_TWO); }
template <class A, class B>
requires detail::TwoToCompare<A, B>
void min(const A&, const B&) { static_assert(detail::kNever<A>, ORIEL_TWO); }
/// @}
#undef ORIEL_TWO
/// True if any element is not 0; false over no elements. The result is bool (uint8 for uint8, as in PyTorch).
[[nodiscard]] Tensor any(const Operand& x, const Axes& axes = {}, KeepDim keepdim = false);
/// True if all elements are not 0; true over no elements. The dtype is that of any.
[[nodiscard]] Tensor all(const Operand& x, const Axes& axes = {}, KeepDim keepdim = false);
/// sum / count, in floats (integers are cast to float32). NaN over no elements.
[[nodiscard]] Tensor mean(const Operand& x, const Axes& axes = {}, KeepDim keepdim = false);
/// Variance: sum((x - mean)^2) / max(count - correction, 0), in floats. Correction 1 gives the unbiased estimate, 0 the
/// variance of the population. Of float32, x and x^2 are summed in float64 where the device computes with it, in one
/// pass: equal elements have the variance 0, no square overflows before the result does, and a deviation below 2^-24
/// of the mean counts as 0. Throws ArgumentError unless correction is finite.
[[nodiscard]] Tensor var(const Operand& x, const Axes& axes = {}, KeepDim keepdim = false, double correction = 1);
/// Standard deviation: sqrt(var), of a variance that may leave the range of float32: stddev({1e30, -1e30}) is finite.
/// Errors as var.
[[nodiscard]] Tensor stddev(const Operand& x, const Axes& axes = {}, KeepDim keepdim = false, double correction = 1);
/// The number of elements that are not 0, as int64. A NaN counts.
[[nodiscard]] Tensor count_nonzero(const Operand& x, const Axes& axes = {}, KeepDim keepdim = false);
/// The p-norm (sum |x|^p)^(1/p), in the dtype of x; halves are computed in float32. p = 2 is the Euclidean norm, p =
/// infinity the largest |x|, p = -infinity the smallest |x|, and p = 0 the number of elements that are not 0 (a NaN
/// counts). The powers are summed in one pass in the dtype of x and may leave its range: for float32 and p = 2 a norm
/// above 1.8e19 becomes infinity, and one below 1e-19 loses digits. norm(x.to(DType::float64), p, axes) avoids this,
/// also in one pass. The norm of no elements is 0 for finite p >= 0. Throws DTypeError for integers and bool,
/// ArgumentError if p is NaN, and ShapeError if p is negative or infinite and a result would be the norm of no
/// elements.
///   norm(Tensor::of<float>({3, 4}));  // 5
[[nodiscard]] Tensor norm(const Operand& x, double p = 2, const Axes& axes = {}, KeepDim keepdim = false);
/// The row-major position, within the reduced axes, of the first largest element, as int64. A NaN counts as larger than
/// all numbers. Throws ShapeError if a result would be taken over no elements.
///   argmax(Tensor::of<int>({3, 9, 9}));  // 1
[[nodiscard]] Tensor argmax(const Operand& x, const Axes& axes = {}, KeepDim keepdim = false);
/// The same for the smallest element. A NaN counts as smaller than all numbers.
[[nodiscard]] Tensor argmin(const Operand& x, const Axes& axes = {}, KeepDim keepdim = false);

/// log(sum(exp(x))), in floats, without overflow of the intermediate sums. -inf over no elements. A small rest beside
/// one number is kept: logsumexp({0, -20}) is 2.06e-9.
[[nodiscard]] Tensor logsumexp(const Operand& x, const Axes& axes = {}, KeepDim keepdim = false);
/// exp(x - max) / sum(exp(x - max)), in floats. The result has the shape of x. softmax, log_softmax and layer_norm keep
/// the order of x in memory, where PyTorch's results are row-major.
[[nodiscard]] Tensor softmax(const Operand& x, const Axes& axes = -1);
/// log(softmax(x)), computed so that it stays accurate where softmax underflows.
[[nodiscard]] Tensor log_softmax(const Operand& x, const Axes& axes = -1);
/// (x - mean) / sqrt(var + eps), with correction 0, in floats. The result has the shape of x. Mean and variance are
/// summed as in var: equal elements give 0, and {1e30, -1e30} gives {1, -1}. The mean is rounded to float32 before it
/// is subtracted. In float64 squares stay in the dtype, so elements whose squares overflow give 0. Throws ArgumentError
/// unless eps is finite and >= 0.
[[nodiscard]] Tensor layer_norm(const Operand& x, const Axes& axes = -1, double eps = 1e-5);

// ---- Along one axis. The results have the shape of x. As in PyTorch, cumsum and cumprod give row-major strides, and
// sort and argsort give those of zeros_like(x).

/// Running sum: element i is the sum of elements 0 to i, in the dtypes of sum. All elements after a NaN are NaN. The
/// results are the same in every run and for any number of threads. On the CPU the axis is cut in runs of 128: the
/// elements of a run are added one after the other, and each of these sums to the sum before the run, whose rounding
/// error is kept beside it. So the error of a float does not grow with n, and sums of numbers that are not negative
/// never fall. Other devices scan shares of a line, and what is before each.
///   cumsum(Tensor::of<int>({1, 2, 3}), 0);  // {1, 3, 6}
[[nodiscard]] Tensor cumsum(const Operand& x, std::int64_t axis);
/// Running product; otherwise as cumsum, without the error beside it.
[[nodiscard]] Tensor cumprod(const Operand& x, std::int64_t axis);

/// Both of x.to(dtype), in that dtype; DTypeError for bool.
/// @{
[[nodiscard]] Tensor cumsum(const Operand& x, DType dtype, std::int64_t axis);
[[nodiscard]] Tensor cumprod(const Operand& x, DType dtype, std::int64_t axis);
/// @}

/// The elements in ascending or descending order, in the dtype of x. A NaN counts as larger than all numbers, so it
/// comes last, or first if `descending`. Payload and sign of a NaN are lost. -0 comes before 0 in ascending order. On
/// eigen, long rows cost O(n) work and temporarily as much memory again; on other devices the work is O(n log^2 n).
///   sort(Tensor::of<int>({3, 1, 2}));  // {1, 2, 3}
[[nodiscard]] Tensor sort(const Operand& x, std::int64_t axis = -1, bool descending = false);
/// The positions that sort the axis, as int64. The sort is stable, also if `descending`: equal elements keep their
/// order, as do 0 and -0, and NaNs, which count as larger than all numbers.
///   argsort(Tensor::of<int>({3, 1, 2}));  // {1, 2, 0}
[[nodiscard]] Tensor argsort(const Operand& x, std::int64_t axis = -1, bool descending = false);

/// Matrix product: (.., n, k) x (.., k, m) -> (.., n, m); leading axes broadcast. If a has one axis, it is a row
/// vector; if b has one axis, it is a column vector; the result lacks that axis. The dtypes are promoted. Halves
/// accumulate in float32; for bool, sum is `or` and product is `and`. Throws ShapeError if an operand has no axes, the
/// inner extents differ, or the leading axes do not broadcast.
///   matmul(a, b);  // (2, 3) x (3, 4): (2, 4)
[[nodiscard]] Tensor matmul(const Operand& a, const Operand& b);

}  // namespace oriel
