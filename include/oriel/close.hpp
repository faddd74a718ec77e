// Equality up to rounding.
#pragma once

#include "oriel/api.hpp"
#include "oriel/tensor.hpp"

namespace ORIEL_API oriel {

/// A bool tensor of the broadcast shape: |a - b| <= atol + rtol * |b|, element by element. The definition is that of
/// numpy.isclose. It is not symmetric: b is the reference. Equal infinities are close. A NaN is close to nothing,
/// except to another NaN with `equal_nan`. Integers are compared as float64, halves as float32. Throws ShapeError if
/// the operands do not broadcast, DeviceError if they live on different devices.
///   isclose(Tensor::of<float>({1, 2}), Tensor::of<float>({1.000001f, 2.1f}));  // {true, false}
[[nodiscard]] Tensor isclose(const Operand& a, const Operand& b, double rtol = 1e-5, double atol = 1e-8,
                             bool equal_nan = false);
/// True if all pairs of elements are close, or if there are no elements. Runs the pending work. Errors as isclose.
bool allclose(const Operand& a, const Operand& b, double rtol = 1e-5, double atol = 1e-8, bool equal_nan = false);

/// True if both have one shape and all elements are equal, by value as == compares them. A NaN equals nothing, except
/// another NaN with `equal_nan`. Runs the pending work. torch.equal, numpy.array_equal.
bool equal(const Operand& a, const Operand& b, bool equal_nan = false);

}  // namespace oriel
