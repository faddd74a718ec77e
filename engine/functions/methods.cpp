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

#define ORIEL_UNARY(name) \
  Tensor TensorMethods::name(Site site) const { return oriel::name(Operand(self(), site)); }
ORIEL_UNARY_METHODS(ORIEL_UNARY)
#undef ORIEL_UNARY

#define ORIEL_REDUCTION(name)                                                      \
  Tensor TensorMethods::name(const Axes& axes, KeepDim keepdim, Site site) const { \
    return oriel::name(Operand(self(), site), axes, keepdim);                      \
  }
ORIEL_REDUCTION_METHODS(ORIEL_REDUCTION)
#undef ORIEL_REDUCTION

#define ORIEL_OR(value)
#define ORIEL_ARGUMENT(result, name, parameters, ...) \
  result TensorMethods::name parameters const { return oriel::name(Operand(self(), site) __VA_OPT__(, ) __VA_ARGS__); }
ORIEL_ARGUMENT_METHODS(ORIEL_ARGUMENT)
#undef ORIEL_ARGUMENT

#define ORIEL_OPERAND(result, name, parameters, operand, ...)                \
  result TensorMethods::name parameters const {                              \
    return oriel::name(Operand(self(), Access::site(operand)), __VA_ARGS__); \
  }
ORIEL_OPERAND_METHODS(ORIEL_OPERAND)
#undef ORIEL_OPERAND
#undef ORIEL_OR

}  // namespace oriel
