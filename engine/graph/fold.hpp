// Elementwise ops on single numbers, with the bits of a kernel. Constants are folded with them.
#pragma once

#include <span>

#include "graph/op.hpp"
#include "graph/scalar.hpp"

namespace oriel::graph {

/// Applies `op` to `operands`, which have one dtype (Where's condition is bool), and returns the result in the dtype
/// `result`. Floats are computed in their dtype, halves in float32 and then rounded; integers wrap. Throws
/// InternalError for functions of floats such as Exp and Pow: their last digits depend on the instruction set
/// (ops::FunctorKind), so they are left to kernels.
///   evaluate(Op::Add, DType::int8, {100, 100});  // -56
Scalar evaluate(Op op, DType result, std::span<const Scalar> operands);

}  // namespace oriel::graph
