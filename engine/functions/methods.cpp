// The functions that are members of Tensor, too.
#include "formula/call.hpp"
#include "oriel/movement.hpp"
#include "oriel/nonzero.hpp"
#include "oriel/ops.hpp"
#include "oriel/reduce.hpp"
#include "oriel/scatter.hpp"

namespace oriel {

using detail::Access;

const Tensor& TensorMethods::self() const noexcept { return static_cast<const Tensor&>(*this); }

#define ORIEL_METHOD(name) \
  Tensor TensorMethods::name(Site site) const { return oriel::name(Operand(self(), site)); }
ORIEL_UNARY_METHODS(ORIEL_METHOD)
ORIEL_METHOD(nonzero)
ORIEL_METHOD(unique)
#undef ORIEL_METHOD

#define ORIEL_METHOD(name)                                                         \
  Tensor TensorMethods::name(const Axes& axes, KeepDim keepdim, Site site) const { \
    return oriel::name(Operand(self(), site), axes, keepdim);                      \
  }
ORIEL_REDUCTION_METHODS(ORIEL_METHOD)
#undef ORIEL_METHOD

// With arguments that hold no line, and with operands, which do.
#define ORIEL_METHOD(name, parameters, ...) \
  Tensor TensorMethods::name parameters const { return oriel::name(Operand(self(), site), __VA_ARGS__); }
ORIEL_METHOD(var, (const Axes& axes, KeepDim keepdim, double correction, Site site), axes, keepdim, correction)
ORIEL_METHOD(stddev, (const Axes& axes, KeepDim keepdim, double correction, Site site), axes, keepdim, correction)
ORIEL_METHOD(norm, (double p, const Axes& axes, KeepDim keepdim, Site site), p, axes, keepdim)
ORIEL_METHOD(softmax, (const Axes& axes, Site site), axes)
ORIEL_METHOD(log_softmax, (const Axes& axes, Site site), axes)
ORIEL_METHOD(layer_norm, (const Axes& axes, double eps, Site site), axes, eps)
ORIEL_METHOD(cumsum, (std::int64_t axis, Site site), axis)
ORIEL_METHOD(cumprod, (std::int64_t axis, Site site), axis)
ORIEL_METHOD(sort, (std::int64_t axis, bool descending, Site site), axis, descending)
ORIEL_METHOD(argsort, (std::int64_t axis, bool descending, Site site), axis, descending)
ORIEL_METHOD(pad, (const Ranges& before_after, Site site), before_after, Operand(0, site))
ORIEL_METHOD(pad, (const AxisEnds& before_after, Site site), before_after, Operand(0, site))
ORIEL_METHOD(repeat, (const Ints& counts, Site site), counts)
ORIEL_METHOD(roll, (std::int64_t shift, std::int64_t axis, Site site), shift, axis)
ORIEL_METHOD(take, (const Tensor& index, std::int64_t axis, Bounds bounds, Site site), index, axis, bounds)
ORIEL_METHOD(gather, (const Tensor& index, std::int64_t axis, Bounds bounds, Site site), index, axis, bounds)
#undef ORIEL_METHOD

#define ORIEL_METHOD(name, parameters, operand, ...)                         \
  Tensor TensorMethods::name parameters const {                              \
    return oriel::name(Operand(self(), Access::site(operand)), __VA_ARGS__); \
  }
ORIEL_METHOD(matmul, (const Operand& other), other, other)
ORIEL_METHOD(pow, (const Operand& exponent), exponent, exponent)
ORIEL_METHOD(clamp, (const Operand& low, const Operand& high), low, low, high)
ORIEL_METHOD(masked_fill, (const Operand& mask, const Operand& value), value, mask, value)
ORIEL_METHOD(masked_select, (const Operand& mask), mask, mask)
ORIEL_METHOD(pad, (const Ranges& before_after, const Operand& value), value, before_after, value)
ORIEL_METHOD(pad, (const AxisEnds& before_after, const Operand& value), value, before_after, value)
ORIEL_METHOD(put, (const Tensor& index, const Operand& values, std::int64_t axis, Bounds bounds), values, index, values,
             axis, bounds)
ORIEL_METHOD(put_add, (const Tensor& index, const Operand& values, std::int64_t axis, Bounds bounds), values, index,
             values, axis, bounds)
#undef ORIEL_METHOD

}  // namespace oriel
