// Kernels that share their rows, as one: a product of matrices, what loops over its rows, and products that read those.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "codegen/lower.hpp"

namespace oriel::codegen {

/// Kernels in running order, each of which but the last stores one value that only the next one reads. Joined, those
/// values are rows that belong to one outer point each: local arguments, with no memory but the rows at work. The
/// joined program's outer loops are the rows' ones, in the order of the values' elements; all other parallel loops of a
/// kernel become the columns of its part. Values and results are the same, bit for bit.
///
///   scores[o, c] = sum over r of q[o, r] * k[c, r]     part 0, columns c
///   softmax of scores[o, r] over r                      part 1
///   out[o, c] = sum over r of weights[o, r] * v[r, c]   part 2, columns c
///
/// Nothing where the rows of two kernels are not the same ones, or are not walked one by one.
std::optional<LoweredKernel> join(std::span<const LoweredKernel* const> kernels);

/// How many parts; 1 for a program that was not joined.
int parts_of(const LoopProgram& program);

/// One part as a program by itself: its columns are the last outer loops, its arguments, constants and values have the
/// numbers that they have in `program`. With `one_row` local arguments hold the row of one outer point alone, else all.
LoopProgram part_program(const LoopProgram& program, int part, bool one_row);

/// Bytes of all local arguments for one outer point.
std::int64_t local_row_bytes(const LoopProgram& program);

}  // namespace oriel::codegen
