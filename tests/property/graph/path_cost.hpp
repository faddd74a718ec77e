// The estimated time of a kernel on the CPU, part by part: what it computes while it packs, and how it reads its
// operands. Finer than the engine's own estimate (backend/eigen/run.hpp), which only counts operations.
#pragma once

#include <string>

#include "backend/backend.hpp"

namespace oriel::testing {

/// In nanoseconds of one launch on one core. Adds the kernel to `text`, unless it is null.
double path_cost(backend::Backend& device, const codegen::LoopProgram& program, std::string* text);

}  // namespace oriel::testing
