// Softmax between two products, with a running maximum and sum: its rows are needed block by block, never as a whole.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

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

/// Points [begin, end) of a loop.
struct Span {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

/// Where a value is -inf whatever is in memory: found from positions that are compared and values that are chosen by
/// that. A causal mask's upper triangle is such a place.
///
/// Thread safety: none.
class HiddenPoints {
 public:
  /// `program` and `parameters`, the numbers given at launch, must outlive it.
  HiddenPoints(const LoopProgram& program, ValueId value, std::span<const graph::Scalar> parameters);
  ~HiddenPoints();
  HiddenPoints(const HiddenPoints&) = delete;
  HiddenPoints& operator=(const HiddenPoints&) = delete;

  /// False where no points can be told to be hidden: then there is nothing to ask.
  bool any() const noexcept { return any_; }
  /// Is the value -inf at all points of a box (a span for each outer loop, then each inner one)? False where that is
  /// not known for sure.
  bool all(std::span<const Span> box);

 private:
  class Bounder;
  std::unique_ptr<Bounder> bounder_;
  ValueId value_;
  bool any_ = false;
};

}  // namespace oriel::codegen
