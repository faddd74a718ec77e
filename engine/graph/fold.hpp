// Elementwise ops on single numbers: what constants fold to, with the bits of a kernel.
#pragma once

#include <span>

#include "graph/op.hpp"
#include "graph/scalar.hpp"

namespace oriel::graph {

/// `op` of `operands`, which have one dtype (Where's condition is bool), in the dtype `result`. Floats compute in their
/// dtype, halves in float32 and are rounded; integers wrap. Throws InternalError for functions of floats such as Exp
/// and Pow: their last places depend on the instruction set (ops::Form), so they are left to kernels.
///   evaluate(Op::Add, DType::int8, {100, 100});  // -56
Scalar evaluate(Op op, DType result, std::span<const Scalar> operands);

}  // namespace oriel::graph
