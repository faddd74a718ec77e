// Softmax between two products, with a running maximum and sum: its rows are needed block by block, never as a whole.
#pragma once

#include <cstdint>
#include <optional>

#include "codegen/join.hpp"

namespace oriel::codegen {

/// Of a program of three parts: a product that gives rows of scores, softmax of what is made of them, a product of the
/// weights with values.
///
///   most = the maximum over c of anything      weights[c] = exp(y[c] - most) / (the sum over c of exp(y[c] - most))
///   out[e] = the sum over c of weights[c] * values[c, e]
///
/// exp(y - most) of one block of columns can be summed, and multiplied, before the maximum over all of them is known:
/// where a later block has a larger one, all sums so far are multiplied by exp(old - new). The division by the sum
/// comes after the product.
struct RunningSoftmax {
  LoopProgram scores;    // the parts as programs by themselves (join.hpp): rows of local values begin `pitch` elements
  LoopProgram weights;   // apart, and where the second part stores weights it stores exp(y - most) of the register's
  LoopProgram products;  // dtype instead
  DType dtype = DType::float32;  // of exp(y - most)
  std::int64_t columns = 1;      // of the scores
  std::size_t max_stage = 0;     // of `weights`, the last two with loops
  std::size_t sum_stage = 0;
  std::size_t scores_argument = 0;
  std::size_t weights_argument = 0;
  ValueId shifted = kNoValue;  // y, in sum_stage
};

/// Nothing where the program is no such one.
std::optional<RunningSoftmax> find_running_softmax(const LoopProgram& program, std::int64_t pitch = 1);

}  // namespace oriel::codegen
