// Reductions over windows, recognised from strides alone: neighbouring points of the last outer loop read neighbouring
// elements, and their windows overlap.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "codegen/loop_program.hpp"

namespace oriel::codegen {

/// The windows that `program` reduces, or nothing: what Form says of it (form.hpp), for whoever makes a Form. They are
/// a single stage with loops, in it a single reduction, of at most 256 points, whose elements are read several times
/// each, in order along the last outer loop or at most 4 apart.
std::optional<Windows> find_windows(const LoopProgram& program);

/// What makes the source, as a program without inner loops over s, planes, rows and columns; and the weights, over s
/// and the inner loops.
LoopProgram source_program(const LoopProgram& program, const Windows& windows);
LoopProgram weight_program(const LoopProgram& program, const Windows& windows);

/// What comes before and after the reduction, as a program without inner loops over the outer ones. It reads
/// `windows.result`, which nothing in it makes.
LoopProgram epilogue_program(const LoopProgram& program, const Windows& windows);

/// "512 times 56 x 56, windows of 9 in 58 x 58".
std::string to_string(const Windows& windows);

}  // namespace oriel::codegen
