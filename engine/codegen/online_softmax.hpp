// Softmax between two products, with a running maximum and sum: the programs of its parts, block by block of columns.
#pragma once

#include <cstdint>
#include <optional>

#include "codegen/join.hpp"

namespace oriel::codegen {

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
