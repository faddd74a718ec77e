// Scans beside cumsum and cumprod (reduce.hpp): what is combined of the elements up to each one, along an axis. On the
// CPU cummax, cummin and linear_recurrence are one kernel that takes time in proportion to the elements; other devices
// compute them by recursive doubling. The results have the shape of x, and row-major strides. Every function throws
// ShapeError for an axis that x lacks.
#pragma once

#include <span>
#include <vector>

#include "oriel/api.hpp"
#include "oriel/callback.hpp"
#include "oriel/order.hpp"
#include "oriel/tensor.hpp"

namespace ORIEL_API oriel {

/// The largest (smallest) element up to each one, and its position: the last one of equal elements. NaN if there was
/// one. PyTorch's functions of these names.
///   cummax(Tensor::of<int>({1, 3, 2, 3}), 0);  // values {1, 3, 3, 3}, positions {0, 1, 1, 3}
/// @{
[[nodiscard]] Ordered cummax(const Operand& x, std::int64_t axis);
[[nodiscard]] Ordered cummin(const Operand& x, std::int64_t axis);
/// @}
/// log(cumsum(exp(x))), without overflow, in floats.
[[nodiscard]] Tensor logcumsumexp(const Operand& x, std::int64_t axis);

/// Which elements a scan combines.
struct ScanOptions {
  bool reverse = false;    ///< those from each one to the end, from the end on
  bool exclusive = false;  ///< without the element itself: the first result is the sum, or product, of none
};
/// cumsum and cumprod (reduce.hpp) in another direction, or without the element itself.
///   cumsum(Tensor::of<int>({1, 2, 3}), 0, {.reverse = true});    // {6, 5, 3}
///   cumsum(Tensor::of<int>({1, 2, 3}), 0, {.exclusive = true});  // {0, 1, 3}
/// @{
[[nodiscard]] Tensor cumsum(const Operand& x, std::int64_t axis, const ScanOptions& options);
[[nodiscard]] Tensor cumprod(const Operand& x, std::int64_t axis, const ScanOptions& options);
/// @}
/// From the end on, if `reverse`: what is combined of the elements from each one to the end. Of equal elements cummax
/// and cummin name the first one then.
/// @{
[[nodiscard]] Ordered cummax(const Operand& x, std::int64_t axis, bool reverse);
[[nodiscard]] Ordered cummin(const Operand& x, std::int64_t axis, bool reverse);
[[nodiscard]] Tensor logcumsumexp(const Operand& x, std::int64_t axis, bool reverse);
/// @}

/// y[t] = a[t] * y[t - 1] + b[t] along an axis, with y[-1] = 0: exponential averages, discounted sums, filters of first
/// order. With `reverse`, y[t] = a[t] * y[t + 1] + b[t]. The operands are promoted and broadcast to each other; halves
/// are computed in float32 and rounded once. On the CPU each element is one product and one sum, in their order.
///   linear_recurrence(0.5, Tensor::of<float>({1, 1, 1}), 0);  // {1, 1.5, 1.75}
///   linear_recurrence(1 - alpha, alpha * x, 0);               // an exponential average that begins with alpha * x[0]
[[nodiscard]] Tensor linear_recurrence(const Operand& a, const Operand& b, std::int64_t axis, bool reverse = false);

/// Combines all elements up to each one by `combine`, which has to be associative: combine(before, after), on slices of
/// tensors along the axis, which gives tensors of the same shapes and dtypes. With `reverse`, from each element to the
/// end. Takes about 2n combinations in 2 log2(n) kernels. In a captured function there is an entry for each extent of
/// the axis. jax.lax.associative_scan. Throws ShapeError if the tensors have different extents along the axis, or if
/// `combine` changes shapes; ArgumentError if it changes their number.
///   associative_scan([](const Tensor& a, const Tensor& b) { return maximum(a, b); }, x);
/// @{
[[nodiscard]] Tensor associative_scan(const Callback<Tensor(const Tensor&, const Tensor&)>& combine, const Operand& x,
                                      std::int64_t axis = 0, bool reverse = false);
using Combination = Callback<std::vector<Tensor>(std::span<const Tensor>, std::span<const Tensor>)>;
[[nodiscard]] std::vector<Tensor> associative_scan(const Combination& combine, const std::vector<Tensor>& x,
                                                   std::int64_t axis = 0, bool reverse = false);
/// @}

}  // namespace oriel
