// A loop program as C++17 source over Eigen: what is dumped, exported, and built by hand.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "codegen/loop_program.hpp"
#include "source/cpp/kernel_sizes.hpp"
#include "source/cpp/loops_source.hpp"
#include "source/shared_helpers.hpp"

namespace oriel::source::cpp {

/// One self-contained translation unit with
///
///   extern "C" void <name>(void* const* arguments, const kernel_<name>::Scalar* parameters,
///                          std::int64_t first, std::int64_t last);
///
/// where <name> is the program's with every other character than letters, digits and _ replaced by _, `arguments` are
/// the buffers in the program's order and parameters[k] is the scalar that constants of parameter k refer to: `i` holds
/// integers and bool, `f` holds floats. It computes the outer points [first, last), numbered in row-major order, on the
/// calling thread; ranges may run at the same time. Sources of several kernels may be put together into one unit.
///
/// A list of instructions is one loop along the last outer loop (Orientation::Outer, and kernels without inner loops)
/// or the last inner loop (Orientation::Inner), in which values are variables; what other loops and reductions read
/// goes through a tile. Kernels of float32, and those with Eigen's functions, work on packets, all others on elements,
/// and these alone include no Eigen. Beyond 48 instructions the loops are spread over several functions. Built with the
/// flags of the tile machine's loops, at the same level, it gives the same bits. Deterministic: same program, same
/// bytes. Precondition: verify(program). Throws InternalError for what no program may hold.
std::string render(const codegen::LoopProgram& program);

/// The same, whose helpers go to `shared`: the source includes that header and reads as the kernel.
std::string render_beside(const codegen::LoopProgram& program, SharedHelpers& shared);

/// The same of a program of one part as part of a larger source: the function has internal linkage, in namespace
/// kernel_<name>, and all that it keeps lies on the stack, so that it neither allocates nor leaves a symbol behind.
/// Tiles are of at most `longest_tile` elements, a power of two from 16 to 256, which changes no result. With
/// Keep::Frame it has a last parameter `void* frame`: what the kernel keeps lies there, `bytes` of it, aligned to 64,
/// and on the stack are a few variables. `bytes` is also about what the kernel has on the stack without a frame.
/// `symbolic`: null if all sizes are numbers, else the function has one more parameter before the frame, `const
/// std::int64_t* sizes`: the array of the table's sizes. A contraction adds in the order of the engine at these sizes:
/// in blocks, or in loops as they stand.
LoopsSource render_embedded(const codegen::LoopProgram& program, Keep keep, int longest_tile,
                            const SymbolicSizes* symbolic = nullptr);

/// A part of kernels that are fused.
struct FusedPart {
  std::string name;                    // of its function
  SymInt points = 1;                   // of a row
  std::vector<std::size_t> arguments;  // their places among those of the kernel
};
/// An embedded kernel that calls its parts for at most `rows` rows at a time. `row_bytes`: by argument; of one that
/// holds only these rows the bytes of a row, else 0. `table`: that of symbolic sizes; null if they are numbers.
std::string render_fused(const std::string& name, std::span<const FusedPart> parts, std::span<const SymInt> row_bytes,
                         SymInt rows, SizeTable* table, bool framed);

/// A kernel of symbolic sizes as a unit by itself, like render(): one part that does not sort. The function has one
/// more parameter, `const std::int64_t* sizes`: the array of the table's sizes. The source serves all sizes at which
/// the kernel has the key (frame.hpp) that it has at the hints. The function's name, which depends on the source alone,
/// is put into `name`.
std::string render_unit(codegen::LoopProgram program, SizeTable& table, std::string& name);

/// As render() for a program of several parts (codegen/join.hpp): a function for each part, for one row at a time.
std::string render_parts(const codegen::LoopProgram& program, SharedHelpers* shared = nullptr);

}  // namespace oriel::source::cpp
