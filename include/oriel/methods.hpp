// The functions of ops.hpp, reduce.hpp and movement.hpp as members of Tensor.
#pragma once

#include "oriel/api.hpp"
#include "oriel/axes.hpp"
#include "oriel/dtype.hpp"
#include "oriel/operand.hpp"
#include "oriel/settings.hpp"
#include "oriel/shape.hpp"
#include "oriel/site.hpp"

// clang-format off
/// The functions of one operand and no argument, which are members too. X(name)
#define ORIEL_UNARY_METHODS(X) \
  X(abs) X(acos) X(acosh) X(asin) X(asinh) X(atan) X(atanh) X(ceil) X(cos) X(cosh) X(erf) X(erfc) X(exp) X(exp2) \
  X(expm1) X(floor) X(gelu) X(isfinite) X(isinf) X(isnan) X(log) X(log10) X(log1p) X(log2) X(logical_not) X(reciprocal) \
  X(relu) X(round) X(rsqrt) X(sigmoid) X(sign) X(silu) X(sin) X(sinh) X(sqrt) X(square) X(tan) X(tanh) X(trunc)
/// The functions of axes and keepdim. X(name)
#define ORIEL_REDUCTION_METHODS(X) \
  X(all) X(any) X(argmax) X(argmin) X(count_nonzero) X(logsumexp) X(max) X(mean) X(min) X(prod) X(sum)
// clang-format on

namespace ORIEL_API oriel {

class Tensor;

/// What Tensor has beside functions: x.sum(1) is sum(x, 1), with its shapes and errors. The last argument is the line
/// of the call, which callers leave out.
class TensorMethods {
 public:
#define ORIEL_UNARY_METHOD(name) [[nodiscard]] Tensor name(Site site = Site::here()) const;
#define ORIEL_REDUCTION_METHOD(name) \
  [[nodiscard]] Tensor name(const Axes& axes = {}, KeepDim keepdim = false, Site site = Site::here()) const;
  /// As the function of that name.
  /// @{
  ORIEL_UNARY_METHODS(ORIEL_UNARY_METHOD)
  ORIEL_REDUCTION_METHODS(ORIEL_REDUCTION_METHOD)
  [[nodiscard]] Tensor var(const Axes& axes = {}, KeepDim keepdim = false, double correction = 1,
                           Site site = Site::here()) const;
  [[nodiscard]] Tensor stddev(const Axes& axes = {}, KeepDim keepdim = false, double correction = 1,
                              Site site = Site::here()) const;
  [[nodiscard]] Tensor norm(double p = 2, const Axes& axes = {}, KeepDim keepdim = false,
                            Site site = Site::here()) const;
  [[nodiscard]] Tensor softmax(const Axes& axes = -1, Site site = Site::here()) const;
  [[nodiscard]] Tensor log_softmax(const Axes& axes = -1, Site site = Site::here()) const;
  [[nodiscard]] Tensor layer_norm(const Axes& axes = -1, double eps = 1e-5, Site site = Site::here()) const;
  [[nodiscard]] Tensor cumsum(std::int64_t axis, Site site = Site::here()) const;
  [[nodiscard]] Tensor cumprod(std::int64_t axis, Site site = Site::here()) const;
  [[nodiscard]] Tensor sort(std::int64_t axis = -1, bool descending = false, Site site = Site::here()) const;
  [[nodiscard]] Tensor argsort(std::int64_t axis = -1, bool descending = false, Site site = Site::here()) const;
  [[nodiscard]] Tensor matmul(const Operand& other) const;
  [[nodiscard]] Tensor pow(const Operand& exponent) const;
  [[nodiscard]] Tensor clamp(const Operand& low, const Operand& high) const;
  [[nodiscard]] Tensor masked_fill(const Operand& mask, const Operand& value) const;
  [[nodiscard]] Tensor masked_select(const Operand& mask) const;
  [[nodiscard]] Tensor nonzero(Site site = Site::here()) const;
  [[nodiscard]] Tensor unique(Site site = Site::here()) const;
  [[nodiscard]] Tensor pad(const Ranges& before_after, Site site = Site::here()) const;
  [[nodiscard]] Tensor pad(const Ranges& before_after, const Operand& value) const;
  [[nodiscard]] Tensor pad(const AxisEnds& before_after, Site site = Site::here()) const;
  [[nodiscard]] Tensor pad(const AxisEnds& before_after, const Operand& value) const;
  [[nodiscard]] Tensor repeat(const Ints& counts, Site site = Site::here()) const;
  [[nodiscard]] Tensor roll(std::int64_t shift, std::int64_t axis, Site site = Site::here()) const;
  [[nodiscard]] Tensor take(const Tensor& index, std::int64_t axis = 0, Bounds bounds = default_bounds(),
                            Site site = Site::here()) const;
  [[nodiscard]] Tensor gather(const Tensor& index, std::int64_t axis, Bounds bounds = default_bounds(),
                              Site site = Site::here()) const;
  [[nodiscard]] Tensor put(const Tensor& index, const Operand& values, std::int64_t axis = 0,
                           Bounds bounds = default_bounds()) const;
  [[nodiscard]] Tensor put_add(const Tensor& index, const Operand& values, std::int64_t axis = 0,
                               Bounds bounds = default_bounds()) const;
  /// @}
#undef ORIEL_UNARY_METHOD
#undef ORIEL_REDUCTION_METHOD

 private:
  friend class Tensor;
  TensorMethods() = default;  // part of a Tensor alone
  const Tensor& self() const noexcept;
};

}  // namespace oriel
