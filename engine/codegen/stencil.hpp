// Stencils: several shifted reads of one argument.
#pragma once

#include <optional>

#include "codegen/loop_program.hpp"

namespace oriel::codegen {

/// What the reads of an elementwise program are, for the functions that make a Form (form.hpp); nullopt if they are no
/// stencil. In a stencil at least two affine accesses of one input have the same coefficients. Their positions differ
/// by whole steps of the loops, fewer along each loop than it has points, so some element is read by both.
std::optional<Stencil> stencil_form(const LoopProgram& program);

}  // namespace oriel::codegen
