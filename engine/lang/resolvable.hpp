// Indices that no shapes could give a range.
#pragma once

#include "lang/program.hpp"

namespace oriel::lang {

/// Throws ComprehensionError (unresolved_variable, unconstrained_output_index) where inference finds no range for an
/// index whatever the shapes are: every access that names it reads a tensor in that index, or has several such indices.
/// What the sizes may decide is left to inference.
void check_resolvable(const Program& program);

}  // namespace oriel::lang
