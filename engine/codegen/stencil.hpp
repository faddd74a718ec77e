// Stencils: several shifted reads of one argument, in words. Tiles read neighbours from the cache, so no device runs a
// stencil another way than other elementwise programs.
#pragma once

#include <string>

#include "codegen/loop_program.hpp"

namespace oriel::codegen {

/// "stencil: 5 reads of in0 in 3 x 3" for an elementwise program that reads a point's neighbours; empty for others. In
/// a stencil at least two affine accesses of one input have the same coefficients. Their positions differ by whole
/// steps of the loops, fewer along each loop than it has points, so some element is read by both. Of several such
/// arguments it names the one with most reads; the extents are those of the least box of loop points that holds them.
std::string stencil_text(const LoopProgram& program);

}  // namespace oriel::codegen
