// Reductions over windows: neighbouring points of the last outer loop read neighbouring elements, and their windows
// overlap.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "codegen/loop_program.hpp"

namespace oriel::codegen {

/// The reduction of a program's only loops as windows, for the functions that make a Form (form.hpp): the schedule says
/// that it reads windows (Reduction::windows), the numbers of the loops how. nullopt if their reads are not in order
/// along the last outer loop.
std::optional<Windows> windows_of(const LoopProgram& program, std::size_t stage);

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
