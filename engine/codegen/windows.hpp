// Reductions over windows, recognised from strides alone: neighbouring points of the last outer loop read neighbouring
// elements, and their windows overlap.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "codegen/loop_program.hpp"

namespace oriel::codegen {

/// Recognises a reduction over windows, for the functions that make a Form (form.hpp); nullopt if `program` is none. It
/// has a single stage with loops and in it a single reduction, of at most 256 points. Each element is read several
/// times; along the last outer loop reads are in order, at most 4 elements apart.
std::optional<Windows> find_windows(const LoopProgram& program);

/// The program that computes the source, over s, planes, rows and columns, and the program that computes the weights,
/// over s and the inner loops. Neither has inner loops.
LoopProgram source_program(const LoopProgram& program, const Windows& windows);
LoopProgram weight_program(const LoopProgram& program, const Windows& windows);

/// The instructions before and after the reduction, as a program over the outer loops without inner ones. It reads
/// `windows.result`, which it does not compute.
LoopProgram epilogue_program(const LoopProgram& program, const Windows& windows);

/// "512 times 56 x 56, windows of 9 in 58 x 58".
std::string to_string(const Windows& windows);

}  // namespace oriel::codegen
