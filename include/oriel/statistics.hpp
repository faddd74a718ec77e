// Statistics that ignore NaN, covariances, and the normalisations of neural networks. Axes, keepdim and errors are
// those of reduce.hpp; "in floats" means that integers and bool are first cast to float32. Halves are computed in
// float32 and rounded once. The definitions are PyTorch's, or NumPy's where a comment names it.
#pragma once

#include "oriel/api.hpp"
#include "oriel/tensor.hpp"

namespace ORIEL_API oriel {

// ---- Reductions of the elements that are not NaN. Of integers and bool they are sum, prod, mean, max and min.

[[nodiscard]] Tensor nansum(const Operand& x, const Axes& axes = {},
                            KeepDim keepdim = false);  ///< 0 if all elements are NaN
[[nodiscard]] Tensor nanprod(const Operand& x, const Axes& axes = {},
                             KeepDim keepdim = false);  ///< 1 if all are NaN (numpy.nanprod)
[[nodiscard]] Tensor nanmean(const Operand& x, const Axes& axes = {},
                             KeepDim keepdim = false);  ///< NaN if all elements are NaN
/// The largest (smallest) element that is not NaN; NaN if all are (numpy.nanmax, numpy.nanmin). Over no elements as max
/// and min.
/// @{
[[nodiscard]] Tensor nanmax(const Operand& x, const Axes& axes = {}, KeepDim keepdim = false);
[[nodiscard]] Tensor nanmin(const Operand& x, const Axes& axes = {}, KeepDim keepdim = false);
/// @}

/// The covariances of variables, which are the rows of a matrix; a column is an observation. In floats, of shape (rows,
/// rows); of a vector or one row, its variance without axes. The sums of products are divided by max(observations -
/// correction, 0). Throws ShapeError for more than two axes.
[[nodiscard]] Tensor cov(const Operand& x, std::int64_t correction = 1);
/// Pearson's correlations of the rows of a matrix: cov(x)[i, j] / sqrt(cov(x)[i, i] * cov(x)[j, j]), clamped to [-1,
/// 1]. NaN for a row without variance. Of a vector or one row 1 without axes, or NaN.
[[nodiscard]] Tensor corrcoef(const Operand& x);

// ---- Normalisations, in floats, of shape (N, C, ...): batches, channels, sizes. The result is multiplied by `weight`
// and `bias` is added, one number of each for a channel. Means and variances are summed as in layer_norm (reduce.hpp):
// in float64 for float32, where the device computes with it.

/// What normalisations do behind the division by the deviation, and what they add to the variance.
struct NormOptions {
  const Tensor* weight = nullptr;  ///< null: 1
  const Tensor* bias = nullptr;    ///< null: 0
  double eps = 1e-5;               ///< finite and >= 0, else ArgumentError
};

/// (x - mean) / sqrt(variance + eps), with one mean and one variance for each channel: what a network does after
/// training. Throws ShapeError unless each list has one number for each channel.
///   batch_norm(x, mean, variance, {.weight = &w, .bias = &b})
[[nodiscard]] Tensor batch_norm(const Operand& x, const Tensor& mean, const Tensor& variance,
                                const NormOptions& options = {});
/// The same with the mean and the variance (correction 0) of this batch, over all axes but the channels. Writes the
/// running statistics: running = (1 - momentum) * running + momentum * batch, with the variance of correction 1.
[[nodiscard]] Tensor batch_norm_training(const Operand& x, Tensor& running_mean, Tensor& running_variance,
                                         const NormOptions& options = {}, double momentum = 0.1);
/// Normalises each channel of each batch by its own mean and variance.
[[nodiscard]] Tensor instance_norm(const Operand& x, const NormOptions& options = {});
/// Normalises each of `groups` groups of channels of each batch by its own mean and variance. Throws ArgumentError
/// unless groups divides the channels.
[[nodiscard]] Tensor group_norm(const Operand& x, std::int64_t groups, const NormOptions& options = {});
/// x / sqrt(mean(x^2) + eps) over `axes`, times `weight`, which broadcasts; a bias is added too. In PyTorch the default
/// eps is that of the dtype.
[[nodiscard]] Tensor rms_norm(const Operand& x, const Axes& axes = -1, const NormOptions& options = {});

/// What scores of attention are masked by, and how they are scaled.
struct AttentionOptions {
  const Tensor* mask = nullptr;  ///< bool: true where a key is seen; floats are added to the scores. Broadcasts
  bool causal = false;           ///< query i sees the keys up to i
  double scale = 0;              ///< of the scores; 0: 1 / sqrt(size of a query)
};
/// softmax(q k^T * scale + mask) v, of q: (.., L, E), k: (.., S, E), v: (.., S, V), in floats, as (.., L, V). With axes
/// of heads in front of the last two, q may have a multiple of the heads of k and v: query heads share them in groups
/// (grouped-query attention). A query that sees no key gives NaN. Runs as one kernel on the CPU if nothing else reads
/// the scores. Throws ShapeError if shapes do not fit.
///   scaled_dot_product_attention(q, k, v, {.causal = true})
[[nodiscard]] Tensor scaled_dot_product_attention(const Operand& q, const Operand& k, const Operand& v,
                                                  const AttentionOptions& options = {});

/// @cond
#define ORIEL_OR(value)
ORIEL_STATISTICS_METHODS(ORIEL_METHOD_BODY)
#undef ORIEL_OR
/// @endcond

}  // namespace oriel
