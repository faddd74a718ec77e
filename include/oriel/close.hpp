// Equality up to rounding.
#pragma once

#include "oriel/tensor.hpp"

namespace oriel {

/// bool: |a - b| <= atol + rtol * |b|, element by element, as numpy.isclose has it: not symmetric, b is the reference.
/// Equal infinities are close, and a NaN to nothing, but with `equal_nan` to another NaN. Operands broadcast; integers
/// are compared as float64, halves as float32. Throws ShapeError where they do not broadcast, DeviceError for operands
/// of different devices.
///   isclose(Tensor::of<float>({1, 2}), Tensor::of<float>({1.000001f, 2.1f}));  // {true, false}
Tensor isclose(const Operand& a, const Operand& b, double rtol = 1e-5, double atol = 1e-8, bool equal_nan = false);
/// Whether all of them are; true where there is none. Runs the pending work.
bool allclose(const Operand& a, const Operand& b, double rtol = 1e-5, double atol = 1e-8, bool equal_nan = false);

}  // namespace oriel
