// A loop program as C++17 source over Eigen: what is dumped, exported, and built by hand.
#pragma once

#include <string>

#include "codegen/loop_program.hpp"

namespace oriel::backend::eigen {

/// One self-contained translation unit with
///
///   extern "C" void <name>(void* const* arguments, const kernel_<name>::Scalar* parameters);
///
/// where <name> is the program's with every other character than letters, digits and _ replaced by _, `arguments` are
/// the buffers in the program's order and parameters[k] is the scalar that constants of parameter k refer to: `i` holds
/// integers and bool, `f` holds floats. It computes the whole domain on the calling thread. Sources of several kernels
/// may be put together into one unit.
///
/// Elements are computed a tile at a time along the last outer loop (Orientation::Outer, and kernels without inner
/// loops) or the last inner loop (Orientation::Inner). Up to 48 instructions every value has its own name; beyond
/// that, tiles are reused and the instructions are spread over several functions. Deterministic: same program, same
/// bytes. Precondition: verify(program). Throws InternalError for what no program may hold.
std::string render(const codegen::LoopProgram& program);

}  // namespace oriel::backend::eigen
