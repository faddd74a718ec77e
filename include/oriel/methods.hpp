// Functions as members of Tensor.
#pragma once

#include <vector>

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

/// A default argument is `ORIEL_OR(value)`, which declarations define as `= value` and definitions as nothing.
#define ORIEL_LINE Site site ORIEL_OR(Site::here())
/// Functions with arguments that are members: X(result, name, (parameters), arguments). This list holds the views that
/// are members of Tensor itself, where `view` or `permute` of a value that nothing else names is known to be one.
#define ORIEL_VIEW_METHODS(X) \
  X(Tensor, reshape, (const Shape& shape, ORIEL_LINE), shape) \
  X(Tensor, view, (const Shape& shape, ORIEL_LINE), shape) \
  X(Tensor, permute, (const Ints& order, ORIEL_LINE), order) \
  X(Tensor, transpose, (std::int64_t a ORIEL_OR(-2), std::int64_t b ORIEL_OR(-1), ORIEL_LINE), a, b) \
  X(Tensor, expand, (const Shape& shape, ORIEL_LINE), shape) \
  X(Tensor, shrink, (const Ranges& ranges, ORIEL_LINE), ranges) \
  X(Tensor, shrink, (const Ranges& ranges, const Axes& axes, ORIEL_LINE), ranges, axes) \
  X(Tensor, flip, (const Axes& axes ORIEL_OR({}), ORIEL_LINE), axes) \
  X(Tensor, squeeze, (const Axes& axes ORIEL_OR({}), ORIEL_LINE), axes) \
  X(Tensor, unsqueeze, (std::int64_t axis, ORIEL_LINE), axis) \
  X(Tensor, slice, (ListOf<Slice> slices, ORIEL_LINE), slices) \
  X(Tensor, select, (std::int64_t axis, SymInt position, ORIEL_LINE), axis, position) \
  X(Tensor, diagonal, (std::int64_t offset ORIEL_OR(0), std::int64_t a ORIEL_OR(0), std::int64_t b ORIEL_OR(1), ORIEL_LINE), offset, a, b) \
  X(Tensor, unfold, (std::int64_t axis, std::int64_t size, std::int64_t step, ORIEL_LINE), axis, size, step)
/// Those that the library defines, with a line of their own, and with that of an operand, which is named first.
/// @{
#define ORIEL_ARGUMENT_METHODS(X) \
  X(Tensor, nonzero, (ORIEL_LINE)) \
  X(Tensor, unique, (ORIEL_LINE)) \
  X(Tensor, var, (const Axes& axes ORIEL_OR({}), KeepDim keepdim ORIEL_OR(false), double correction ORIEL_OR(1), ORIEL_LINE), axes, keepdim, correction) \
  X(Tensor, stddev, (const Axes& axes ORIEL_OR({}), KeepDim keepdim ORIEL_OR(false), double correction ORIEL_OR(1), ORIEL_LINE), axes, keepdim, correction) \
  X(Tensor, norm, (double p ORIEL_OR(2), const Axes& axes ORIEL_OR({}), KeepDim keepdim ORIEL_OR(false), ORIEL_LINE), p, axes, keepdim) \
  X(Tensor, softmax, (const Axes& axes ORIEL_OR(-1), ORIEL_LINE), axes) \
  X(Tensor, log_softmax, (const Axes& axes ORIEL_OR(-1), ORIEL_LINE), axes) \
  X(Tensor, layer_norm, (const Axes& axes ORIEL_OR(-1), double eps ORIEL_OR(1e-5), ORIEL_LINE), axes, eps) \
  X(Tensor, cumsum, (std::int64_t axis, ORIEL_LINE), axis) \
  X(Tensor, cumprod, (std::int64_t axis, ORIEL_LINE), axis) \
  X(Tensor, sort, (std::int64_t axis ORIEL_OR(-1), bool descending ORIEL_OR(false), ORIEL_LINE), axis, descending) \
  X(Tensor, argsort, (std::int64_t axis ORIEL_OR(-1), bool descending ORIEL_OR(false), ORIEL_LINE), axis, descending) \
  X(Tensor, pad, (const Ranges& before_after, ORIEL_LINE), before_after, Operand(0, site)) \
  X(Tensor, pad, (const AxisEnds& before_after, ORIEL_LINE), before_after, Operand(0, site)) \
  X(Tensor, repeat, (const Ints& counts, ORIEL_LINE), counts) \
  X(Tensor, roll, (std::int64_t shift, std::int64_t axis, ORIEL_LINE), shift, axis) \
  X(Tensor, take, (const Tensor& index, std::int64_t axis ORIEL_OR(0), Bounds bounds ORIEL_OR(default_bounds()), ORIEL_LINE), index, axis, bounds) \
  X(Tensor, gather, (const Tensor& index, std::int64_t axis, Bounds bounds ORIEL_OR(default_bounds()), ORIEL_LINE), index, axis, bounds)
#define ORIEL_OPERAND_METHODS(X) \
  X(Tensor, matmul, (const Operand& other), other, other) \
  X(Tensor, pow, (const Operand& exponent), exponent, exponent) \
  X(Tensor, maximum, (const Operand& other), other, other) \
  X(Tensor, minimum, (const Operand& other), other, other) \
  X(Tensor, clamp, (const Operand& low, const Operand& high), low, low, high) \
  X(Tensor, masked_fill, (const Operand& mask, const Operand& value), value, mask, value) \
  X(Tensor, masked_select, (const Operand& mask), mask, mask) \
  X(Tensor, pad, (const Ranges& before_after, const Operand& value), value, before_after, value) \
  X(Tensor, pad, (const AxisEnds& before_after, const Operand& value), value, before_after, value) \
  X(Tensor, put, (const Tensor& index, const Operand& values, std::int64_t axis ORIEL_OR(0), Bounds bounds ORIEL_OR(default_bounds())), values, index, values, axis, bounds) \
  X(Tensor, put_add, (const Tensor& index, const Operand& values, std::int64_t axis ORIEL_OR(0), Bounds bounds ORIEL_OR(default_bounds())), values, index, values, axis, bounds)
/// @}
/// Those that are defined where their functions are declared, by header. The first are views.
/// @{
#define ORIEL_SHAPING_VIEWS(X) \
  X(Tensor, flatten, (std::int64_t first ORIEL_OR(0), std::int64_t last ORIEL_OR(-1), ORIEL_LINE), first, last) \
  X(Tensor, unflatten, (std::int64_t axis, const Shape& shape, ORIEL_LINE), axis, shape) \
  X(Tensor, swapaxes, (std::int64_t a, std::int64_t b, ORIEL_LINE), a, b) \
  X(Tensor, movedim, (const Ints& from, const Ints& to, ORIEL_LINE), from, to) \
  X(Tensor, rot90, (std::int64_t quarters ORIEL_OR(1), std::int64_t first ORIEL_OR(0), std::int64_t second ORIEL_OR(1), ORIEL_LINE), quarters, first, second) \
  X(std::vector<Tensor>, split, (SymInt size, std::int64_t axis ORIEL_OR(0), ORIEL_LINE), size, axis) \
  X(std::vector<Tensor>, split_with_sizes, (const Ints& sizes, std::int64_t axis ORIEL_OR(0), ORIEL_LINE), sizes, axis) \
  X(std::vector<Tensor>, split_at, (const Ints& positions, std::int64_t axis ORIEL_OR(0), ORIEL_LINE), positions, axis) \
  X(std::vector<Tensor>, chunk, (std::int64_t count, std::int64_t axis ORIEL_OR(0), ORIEL_LINE), count, axis) \
  X(std::vector<Tensor>, unbind, (std::int64_t axis ORIEL_OR(0), ORIEL_LINE), axis)
#define ORIEL_SHAPING_METHODS(X) \
  X(Tensor, tile, (const Ints& counts, ORIEL_LINE), counts) \
  X(Tensor, repeat_interleave, (SymInt count, std::int64_t axis, ORIEL_LINE), count, axis)
#define ORIEL_ORDER_METHODS(X) \
  X(Ordered, topk, (std::int64_t k, std::int64_t axis ORIEL_OR(-1), bool largest ORIEL_OR(true), ORIEL_LINE), k, axis, largest) \
  X(Ordered, kthvalue, (std::int64_t k, std::int64_t axis ORIEL_OR(-1), KeepDim keepdim ORIEL_OR(false), ORIEL_LINE), k, axis, keepdim) \
  X(Ordered, median, (std::int64_t axis, KeepDim keepdim ORIEL_OR(false), ORIEL_LINE), axis, keepdim) \
  X(Ordered, max_with_indices, (std::int64_t axis, KeepDim keepdim ORIEL_OR(false), ORIEL_LINE), axis, keepdim) \
  X(Ordered, min_with_indices, (std::int64_t axis, KeepDim keepdim ORIEL_OR(false), ORIEL_LINE), axis, keepdim) \
  X(Tensor, mode, (std::int64_t axis ORIEL_OR(-1), KeepDim keepdim ORIEL_OR(false), ORIEL_LINE), axis, keepdim) \
  X(Tensor, quantile, (double q, std::int64_t axis, KeepDim keepdim ORIEL_OR(false), ORIEL_LINE), q, axis, keepdim)
#define ORIEL_ARITHMETIC_METHODS(X) \
  X(Tensor, diff, (std::int64_t n ORIEL_OR(1), std::int64_t axis ORIEL_OR(-1), ORIEL_LINE), n, axis) \
  X(Tensor, nan_to_num, (double nan ORIEL_OR(0), ORIEL_LINE), nan)
#define ORIEL_STATISTICS_METHODS(X) \
  X(Tensor, nansum, (const Axes& axes ORIEL_OR({}), KeepDim keepdim ORIEL_OR(false), ORIEL_LINE), axes, keepdim) \
  X(Tensor, nanmean, (const Axes& axes ORIEL_OR({}), KeepDim keepdim ORIEL_OR(false), ORIEL_LINE), axes, keepdim)
#define ORIEL_SCATTER_METHODS(X) \
  X(Tensor, at_indices, (const std::vector<Tensor>& index, Bounds bounds ORIEL_OR(default_bounds()), ORIEL_LINE), index, bounds) \
  X(Tensor, at_indices, (const Tensor& i, const Tensor& j, ORIEL_LINE), {i, j}) \
  X(Tensor, at_indices, (const Tensor& i, const Tensor& j, const Tensor& k, ORIEL_LINE), {i, j, k}) \
  X(Tensor, index_select, (std::int64_t axis, const Tensor& index, Bounds bounds ORIEL_OR(default_bounds()), ORIEL_LINE), axis, index, bounds)
#define ORIEL_LINEAR_ALGEBRA_METHODS(X) \
  X(Tensor, inverse, (ORIEL_LINE)) \
  X(Tensor, det, (ORIEL_LINE))
/// @}
/// What is made of an entry of a list.
/// @{
#define ORIEL_DECLARED_METHOD(result, name, parameters, ...) [[nodiscard]] result name parameters const;
#define ORIEL_DECLARED_VIEW(result, name, parameters, ...) \
  [[nodiscard]] result name parameters const&; [[nodiscard]] result name parameters&&;
#define ORIEL_METHOD_BODY(result, name, parameters, ...) \
  inline result TensorMethods::name parameters const { return oriel::name(Operand(self(), site) __VA_OPT__(, ) __VA_ARGS__); }
#define ORIEL_VIEW_BODY(result, name, parameters, ...) \
  inline result TensorMethods::name parameters const& { return oriel::name(Operand(self(), site), __VA_ARGS__); } \
  inline result TensorMethods::name parameters&& { return oriel::name(Operand(static_cast<Tensor&&>(*this), site), __VA_ARGS__); }
/// @}
// clang-format on

namespace ORIEL_API oriel {

class Tensor;
struct Ordered;

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
#define ORIEL_OR(value) = value
  ORIEL_ARGUMENT_METHODS(ORIEL_DECLARED_METHOD)
  ORIEL_OPERAND_METHODS(ORIEL_DECLARED_METHOD)
  ORIEL_SHAPING_VIEWS(ORIEL_DECLARED_VIEW)
  ORIEL_SHAPING_METHODS(ORIEL_DECLARED_METHOD)
  ORIEL_ORDER_METHODS(ORIEL_DECLARED_METHOD)
  ORIEL_ARITHMETIC_METHODS(ORIEL_DECLARED_METHOD)
  ORIEL_STATISTICS_METHODS(ORIEL_DECLARED_METHOD)
  ORIEL_SCATTER_METHODS(ORIEL_DECLARED_METHOD)
  ORIEL_LINEAR_ALGEBRA_METHODS(ORIEL_DECLARED_METHOD)
#undef ORIEL_OR
  /// @}
#undef ORIEL_UNARY_METHOD
#undef ORIEL_REDUCTION_METHOD

 private:
  friend class Tensor;
  TensorMethods() = default;  // part of a Tensor alone
  const Tensor& self() const noexcept;
};

}  // namespace oriel
