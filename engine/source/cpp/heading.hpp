// The comment at the head of a C++ source.
#pragma once

#include <string>
#include <vector>

#include "codegen/loop_program.hpp"

namespace oriel::source::cpp {

/// Loops, arguments by the names in `buffers`, parameters and accesses of a program, each line a comment.
std::string heading(const codegen::LoopProgram& program, const std::vector<std::string>& buffers);

}  // namespace oriel::source::cpp
