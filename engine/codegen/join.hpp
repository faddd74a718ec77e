// Programs of several parts: made from kernels that the schedule joins, and taken apart again.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "codegen/lower.hpp"

namespace oriel::codegen {

/// The lowered kernels of `fused` as one program. The values between them become rows that belong to one outer point
/// each: local arguments, with no memory but the rows at work. The program's outer loops are the shared ones; all other
/// parallel loops of a kernel become the columns of its part. Values and results are the same, bit for bit.
LoweredKernel join(std::span<const LoweredKernel* const> kernels, const schedule::FusedKernels& fused);

/// How many parts; 1 for a program that was not fused.
int parts_of(const LoopProgram& program);

/// One part as a program by itself. Its columns become the last outer loops; arguments, constants and values keep their
/// numbers. With `one_row` a local argument holds the row of one outer point, else the rows of all of them.
LoopProgram part_program(const LoopProgram& program, int part, bool one_row);

/// Bytes of all local arguments for one outer point.
std::int64_t local_row_bytes(const LoopProgram& program);

/// The softmax of a program of three parts of which the schedule says that it has one (LoopProgram::online): its stages
/// and values by role. The middle part's reductions are the maximum and the sum.
OnlineSoftmax online_softmax_of(const LoopProgram& program);

/// The parts as programs by themselves (join.hpp). Rows of local values begin `pitch` elements apart. Where the second
/// part stores weights, it stores exp(y - most) instead, in the register's dtype.
struct OnlineParts {
  LoopProgram scores;
  LoopProgram weights;
  LoopProgram products;
};

/// Precondition: `online_softmax_in(program.form)`.
OnlineParts online_parts(const LoopProgram& program, std::int64_t pitch);

}  // namespace oriel::codegen
