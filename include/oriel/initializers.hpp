// The first weights of a network, from keys (random.hpp).
#pragma once

#include "oriel/api.hpp"
#include "oriel/random.hpp"
#include "oriel/tensor.hpp"

namespace ORIEL_API oriel {

/// What the size of weights is divided by: the inputs of each result, the results of each input, or their mean.
enum class Fan : std::uint8_t { in, out, mean };

/// How weights are drawn. Shapes are (out, in, kernel...) as those of conv2d: fan in is in times the kernel's elements,
/// fan out is out times these. For a matrix (in, out), of matmul(x, w), swap them: Fan::out is its fan in.
struct WeightOptions {
  double gain = 1;               ///< sqrt(2) for a relu behind, 5/3 for tanh
  Fan fan = Fan::in;             ///< what the size of the weights is divided by
  DType dtype = DType::float32;  ///< of the weights: a float
};

// All throw ShapeError for fewer than two axes, DTypeError for a dtype that is no float. (torch.nn.init)

/// Uniform in [-b, b] with b = gain sqrt(6 / (fan_in + fan_out)); normal of deviation gain sqrt(2 / (fan_in +
/// fan_out)). After Glorot and Bengio (2010); WeightOptions::fan does not count.
/// @{
[[nodiscard]] Tensor xavier_uniform(const Key& key, const Shape& shape, const WeightOptions& options = {},
                                    Site site = Site::here());
[[nodiscard]] Tensor xavier_normal(const Key& key, const Shape& shape, const WeightOptions& options = {},
                                   Site site = Site::here());
/// @}
/// Uniform in [-b, b] with b = gain sqrt(3 / fan); normal of deviation gain / sqrt(fan). After He et al. (2015), for a
/// relu.
/// @{
[[nodiscard]] Tensor he_uniform(const Key& key, const Shape& shape, const WeightOptions& options = {1.4142135623730951},
                                Site site = Site::here());
[[nodiscard]] Tensor he_normal(const Key& key, const Shape& shape, const WeightOptions& options = {1.4142135623730951},
                               Site site = Site::here());
/// @}
/// Normal within two deviations, of deviation gain / sqrt(fan) before that: truncated_normal of random.hpp.
[[nodiscard]] Tensor truncated_normal_weights(const Key& key, const Shape& shape, const WeightOptions& options = {},
                                              Site site = Site::here());
/// gain times a matrix of orthonormal rows or columns, whichever are fewer, uniform among these; axes from the second
/// on count as one. The factor Q of normal numbers, with the signs of R's diagonal. (Saxe et al., 2013)
[[nodiscard]] Tensor orthogonal(const Key& key, const Shape& shape, const WeightOptions& options = {},
                                Site site = Site::here());

}  // namespace oriel
