// Finds indices that have no range for any shapes.
#pragma once

#include "lang/program.hpp"

namespace oriel::lang {

/// Throws ComprehensionError (unresolved_variable, unconstrained_output_index) if inference cannot find a range for an
/// index whatever the shapes: every index expression that names it reads a tensor, or has several such indices. Cases
/// that sizes may decide are left to inference.
void check_resolvable(const Program& program);

}  // namespace oriel::lang
