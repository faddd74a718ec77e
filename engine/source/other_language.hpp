// A kernel in the language that its device does not build, for pages that show it in both.
#pragma once

#include <string>
#include <string_view>

#include "codegen/loop_program.hpp"

namespace oriel::source {

struct OtherSource {
  std::string language;  // "C++", "OpenCL C"
  std::string text;      // empty: the other language has no such kernel
};

/// `source`: what the kernel's device builds. C++ beside OpenCL C; beside C++, the OpenCL C for a GPU of common limits.
OtherSource in_other_language(const codegen::LoopProgram& program, std::string_view source);

}  // namespace oriel::source
