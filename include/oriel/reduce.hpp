// Reductions and what is built of them. `axes`: all by default, one, or a list; negative ones count from the last.
// Reduced axes vanish, or stay with extent 1 under `keepdim`. An empty list reduces nothing. A tensor without axes
// counts as one of extent 1 and takes axis 0 or -1. NaN propagates.
//
// Every function here throws ShapeError for an axis out of range or named twice.
#pragma once

#include "oriel/tensor.hpp"

namespace oriel {

/// Sum. bool and integers sum in int64 (uint64 in itself), wrapping; halves sum in float32 and round once. 0 over
/// nothing.
///   sum(x, -1);            // of shape (2, 3): shape (2)
///   sum(x, {0, 1}, true);  // shape (1, 1)
Tensor sum(const Operand& x, const Axes& axes = {}, bool keepdim = false);
/// Product, in the dtypes of sum. 1 over nothing.
Tensor prod(const Operand& x, const Axes& axes = {}, bool keepdim = false);
/// Largest element, in the dtype of x. Over nothing: the dtype's lowest value (-inf for floats).
Tensor max(const Operand& x, const Axes& axes = {}, bool keepdim = false);
/// Smallest element. Over nothing: the dtype's highest value (inf for floats).
Tensor min(const Operand& x, const Axes& axes = {}, bool keepdim = false);
/// bool (uint8 for uint8, as in PyTorch): is any element not 0. false over nothing.
Tensor any(const Operand& x, const Axes& axes = {}, bool keepdim = false);
/// The same: are all elements not 0. true over nothing.
Tensor all(const Operand& x, const Axes& axes = {}, bool keepdim = false);
/// sum / count, of floats (integers are cast to float32). NaN over nothing.
Tensor mean(const Operand& x, const Axes& axes = {}, bool keepdim = false);
/// sum((x - mean)^2) / max(count - correction, 0), of floats; correction 1 is the unbiased estimate, 0 the
/// population's. Throws ArgumentError unless correction is finite.
Tensor var(const Operand& x, const Axes& axes = {}, bool keepdim = false, double correction = 1);
/// sqrt(var).
Tensor stddev(const Operand& x, const Axes& axes = {}, bool keepdim = false, double correction = 1);
/// int64: how many elements are not 0. A NaN is not.
Tensor count_nonzero(const Operand& x, const Axes& axes = {}, bool keepdim = false);
/// The p-norm of floats, (sum |x|^p)^(1/p), in the dtype of x, halves by way of float32; the root of the sum of squares
/// for 2, the largest |x| for infinity and the smallest for -infinity, for 0 the number of elements that are not 0 (a
/// NaN is not). The sum of powers is one pass in x's dtype, and may leave its range: for float32 and p = 2 a norm above
/// 1.8e19 is infinity, and one below 1e-19 loses digits. norm(x.to(DType::float64), p, axes) has room for them, in one
/// pass as well. 0 over nothing for p >= 0. Throws DTypeError for integers and bool, ArgumentError where p is NaN, and
/// ShapeError for p negative or infinite where there is a result to give over no elements.
///   norm(Tensor::of<float>({3, 4}));  // 5
Tensor norm(const Operand& x, double p = 2, const Axes& axes = {}, bool keepdim = false);
/// int64: row-major position, within the reduced axes, of the first largest element; a NaN counts as larger than all.
/// Throws ShapeError where there is a result to give over no elements.
///   argmax(Tensor::of<int>({3, 9, 9}));  // 1
Tensor argmax(const Operand& x, const Axes& axes = {}, bool keepdim = false);
/// The same for the smallest; a NaN counts as smaller than all.
Tensor argmin(const Operand& x, const Axes& axes = {}, bool keepdim = false);

/// log(sum(exp(x))), of floats, without overflow on the way. -inf over nothing.
Tensor logsumexp(const Operand& x, const Axes& axes = {}, bool keepdim = false);
/// exp(x - max) / sum(exp(x - max)), of floats; the shape of x.
Tensor softmax(const Operand& x, const Axes& axes = -1);
/// log(softmax(x)), exact where softmax underflows.
Tensor log_softmax(const Operand& x, const Axes& axes = -1);
/// (x - mean) / sqrt(var + eps) with correction 0, of floats; the shape of x. Throws ArgumentError unless eps is finite
/// and >= 0.
Tensor layer_norm(const Operand& x, const Axes& axes = -1, double eps = 1e-5);

// ---- Along one axis; the shape of x. As in PyTorch, running sums and products are row-major, and what is sorted lies
// as zeros_like(x) does.

/// Element i is the sum of elements 0 to i, in the dtypes of sum. A NaN reaches all that come after it. The additions
/// are paired by doubling in blocks of 64, about 6 for each element, so that their errors grow with the logarithm of n;
/// they are the same in every run.
///   cumsum(Tensor::of<int>({1, 2, 3}), 0);  // {1, 3, 6}
Tensor cumsum(const Operand& x, std::int64_t axis);
/// The same for products.
Tensor cumprod(const Operand& x, std::int64_t axis);

/// The elements in ascending order, or descending, in the dtype of x. A NaN counts as larger than all, so that it comes
/// last, and first if `descending`; which NaN it is is lost. -0 comes before 0 in ascending order. On eigen O(n) work
/// for long rows, with as much memory again while it runs; elsewhere O(n log^2 n).
///   sort(Tensor::of<int>({3, 1, 2}));  // {1, 2, 3}
Tensor sort(const Operand& x, std::int64_t axis = -1, bool descending = false);
/// int64: the positions on the axis, in the order of their elements. Equal elements keep their order, also if
/// `descending`; so do 0 and -0, and NaNs, which count as larger than all.
///   argsort(Tensor::of<int>({3, 1, 2}));  // {1, 2, 0}
Tensor argsort(const Operand& x, std::int64_t axis = -1, bool descending = false);

/// Product of matrices: (.., n, k) x (.., k, m) -> (.., n, m), leading axes broadcast. A one-axis a is a row and a
/// one-axis b a column, whose axis the result lacks. The promoted dtype; halves accumulate in float32, bool is `or` of
/// `and`. Throws ShapeError where an operand has no axes, the inner extents differ or the leading axes do not
/// broadcast.
///   matmul(a, b);  // (2, 3) x (3, 4): (2, 4)
Tensor matmul(const Operand& a, const Operand& b);

}  // namespace oriel
