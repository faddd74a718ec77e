// The order of loops in which a program is written.
#pragma once

#include "codegen/loop_program.hpp"

namespace oriel::source::cpp {

/// The program, whose sizes are numbers, with a long outer loop last where the last one is shorter than a packet, and
/// with short reductions beside each other. Each point has the bits that it had: they depend on no order of points.
codegen::LoopProgram with_long_last_loop(codegen::LoopProgram program);

}  // namespace oriel::source::cpp
