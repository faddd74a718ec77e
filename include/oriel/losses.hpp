// Losses: distances between what a model computes and what it should, in floats, as PyTorch defines them
// (torch.nn.functional). Operands broadcast and are promoted as in ops.hpp. Everything is computed in float32 or
// float64, and rounded once to the dtype. The mean over no elements is NaN.
#pragma once

#include "oriel/api.hpp"
#include "oriel/settings.hpp"
#include "oriel/tensor.hpp"

namespace ORIEL_API oriel {

/// What becomes of the losses of elements: kept; their mean; their sum; their sum divided by the extent of axis 0.
enum class Reduction { none, mean, sum, batch_mean };

[[nodiscard]] Tensor mse_loss(const Operand& x, const Operand& y,
                              Reduction reduction = Reduction::mean);                                     ///< (x - y)^2
[[nodiscard]] Tensor l1_loss(const Operand& x, const Operand& y, Reduction reduction = Reduction::mean);  ///< |x - y|
/// d^2 / (2 beta) where d = |x - y| is below beta, else d - beta / 2. l1_loss for beta 0. ArgumentError for beta < 0.
[[nodiscard]] Tensor smooth_l1_loss(const Operand& x, const Operand& y, double beta = 1,
                                    Reduction reduction = Reduction::mean);
/// d^2 / 2 where d = |x - y| is at most delta, else delta * (d - delta / 2). ArgumentError for delta <= 0.
[[nodiscard]] Tensor huber_loss(const Operand& x, const Operand& y, double delta = 1,
                                Reduction reduction = Reduction::mean);

/// How classes count in cross_entropy and nll_loss.
struct ClassOptions {
  const Tensor* weight = nullptr;         ///< one number for each class; null: 1
  std::int64_t ignore_index = -100;       ///< elements of this class do not count, in the mean neither
  double label_smoothing = 0;             ///< in [0, 1]: this part of each target is spread over all classes
  Reduction reduction = Reduction::mean;  ///< the mean is weighted by the classes' weights
  /// Of classes outside of [0, C): checked, IndexError; zero, they have the loss and the weight 0.
  Bounds bounds = default_bounds();
};
/// -weight[t] * log_probabilities[n, t] for the class t that `target` holds for each n. log_probabilities: (N, C, ...)
/// or (C); target: integers of shape (N, ...) or (). Throws IndexError for a class outside of [0, C) (see
/// ClassOptions::bounds; ignore_index may lie outside), DTypeError unless target holds integers, ShapeError if shapes
/// do not fit, ArgumentError for a label smoothing.
[[nodiscard]] Tensor nll_loss(const Operand& log_probabilities, const Tensor& target, const ClassOptions& options = {});
/// nll_loss of log_softmax(logits) over the classes, with label smoothing. A target of floats with the shape of logits
/// holds probabilities: the loss is -sum of weight * target * log_softmax over the classes, its mean is over N.
///   cross_entropy(logits, labels, {.label_smoothing = 0.1})
[[nodiscard]] Tensor cross_entropy(const Operand& logits, const Tensor& target, const ClassOptions& options = {});

/// -(y * log(p) + (1 - y) * log(1 - p)), with logarithms of at least -100. p lies in [0, 1]; else NaN.
[[nodiscard]] Tensor binary_cross_entropy(const Operand& p, const Operand& y, Reduction reduction = Reduction::mean);
/// binary_cross_entropy of sigmoid(x), without overflow on the way; `positive_weight` multiplies the first term.
/// @{
[[nodiscard]] Tensor binary_cross_entropy_with_logits(const Operand& x, const Operand& y,
                                                      Reduction reduction = Reduction::mean);
[[nodiscard]] Tensor binary_cross_entropy_with_logits(const Operand& x, const Operand& y, const Tensor& positive_weight,
                                                      Reduction reduction = Reduction::mean);
/// @}
/// y * (log(y) - x), 0 where y is 0; with `log_target` y holds logarithms: exp(y) * (y - x).
[[nodiscard]] Tensor kl_div(const Operand& x, const Operand& y, bool log_target = false,
                            Reduction reduction = Reduction::mean);

}  // namespace oriel
