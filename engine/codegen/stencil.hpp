// Stencils: several shifted reads of one argument.
#pragma once

#include <optional>

#include "codegen/loop_program.hpp"

namespace oriel::codegen {

/// The stencil that an elementwise program is, or nothing: what Form says of it (form.hpp), for whoever makes a Form.
/// One is if at least two affine accesses of an input have the same coefficients, and their positions differ by whole
/// steps of the loops, fewer along each loop than it has points. Points exist that read both.
std::optional<Stencil> find_stencil(const LoopProgram& program);

}  // namespace oriel::codegen
