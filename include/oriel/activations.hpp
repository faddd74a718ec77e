// The activation functions of neural networks, in floats: integers and bool are first cast to float32. Each is computed
// in float32 or float64, rounded once to the dtype, and has the shape of x. Where nothing else is said NaN gives NaN.
// The definitions, names and default arguments are PyTorch's (torch.nn.functional). relu, sigmoid, silu and gelu stand
// in ops.hpp, softmax in reduce.hpp.
#pragma once

#include "oriel/api.hpp"
#include "oriel/tensor.hpp"

namespace ORIEL_API oriel {

[[nodiscard]] Tensor relu6(const Operand& x);                                       ///< minimum(maximum(x, 0), 6)
[[nodiscard]] Tensor hardtanh(const Operand& x, double low = -1, double high = 1);  ///< x clamped to [low, high]
[[nodiscard]] Tensor hardsigmoid(const Operand& x);                                 ///< relu6(x + 3) / 6
[[nodiscard]] Tensor hardswish(const Operand& x);                                   ///< x * relu6(x + 3) / 6
[[nodiscard]] Tensor leaky_relu(const Operand& x, double slope = 0.01);             ///< x > 0 ? x : slope * x
[[nodiscard]] Tensor elu(const Operand& x, double alpha = 1);  ///< x > 0 ? x : alpha * (exp(x) - 1)
/// scale * elu(x, alpha) with the constants of Klambauer et al. (arXiv:1706.02515), 1.0507 and 1.6733.
[[nodiscard]] Tensor selu(const Operand& x);
/// maximum(x, 0) + minimum(alpha * (exp(x / alpha) - 1), 0). Throws ArgumentError for alpha 0.
[[nodiscard]] Tensor celu(const Operand& x, double alpha = 1);
/// log(1 + exp(beta * x)) / beta; x itself where beta * x exceeds `threshold`.
[[nodiscard]] Tensor softplus(const Operand& x, double beta = 1, double threshold = 20);
[[nodiscard]] Tensor mish(const Operand& x);        ///< x * tanh(log(1 + exp(x)))
[[nodiscard]] Tensor logsigmoid(const Operand& x);  ///< log(sigmoid(x)), without underflow on the way
[[nodiscard]] Tensor softsign(const Operand& x);    ///< x / (1 + |x|); NaN for infinities
[[nodiscard]] Tensor softshrink(const Operand& x,
                                double lambda = 0.5);  ///< x moved towards 0 by lambda; 0 in [-lambda, lambda]
[[nodiscard]] Tensor hardshrink(const Operand& x, double lambda = 0.5);  ///< x; 0 in [-lambda, lambda]
[[nodiscard]] Tensor tanhshrink(const Operand& x);                       ///< x - tanh(x)
[[nodiscard]] Tensor threshold(const Operand& x, double threshold,
                               double value);  ///< x > threshold ? x : value; NaN stays
/// x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))) / 2, the approximation of gelu (approximate='tanh' in PyTorch).
[[nodiscard]] Tensor gelu_tanh(const Operand& x);
/// a * sigmoid(b), where a and b are the halves of x along `axis`. Throws ShapeError for an odd extent.
[[nodiscard]] Tensor glu(const Operand& x, std::int64_t axis = -1);

}  // namespace oriel
