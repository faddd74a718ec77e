// One loop program as one function: its loops as they stand, or in an order that fills packets.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "codegen/loop_program.hpp"
#include "source/shared_helpers.hpp"

namespace oriel::source::cpp {

struct SymbolicSizes;

/// Where a kernel's workspace is. With Heap the function is extern "C", else it has internal linkage.
enum class Keep : std::uint8_t { Heap, Stack, Frame };

struct LoopsForm {
  Keep keep = Keep::Heap;
  int longest_tile = 256;
  /// The argument of this number comes as a pointer to {pointer, number of the element that it points to}; or -1.
  int shifted = -1;
  /// Takes the helpers, which the source then includes; null: they stand in the source. It must outlive the call.
  SharedHelpers* shared = nullptr;
  /// For many sizes: the function has one more parameter, the array of sizes (SizeTable). With Keep::Heap it is a unit
  /// (SymbolicSizes::unit). Null: all sizes are numbers.
  const SymbolicSizes* symbolic = nullptr;
};

struct LoopsSource {
  std::string source;
  std::int64_t bytes = 0;  // of the frame, for Keep::Frame
  bool eigen = false;      // does it include Eigen?
  /// Bytes of the rows that a kernel of symbolic sizes keeps, which are its last arguments.
  std::vector<SymInt> kept = {};
};

/// Of a program of one part.
LoopsSource render_loops(const codegen::LoopProgram& program, const LoopsForm& form);

/// The program, whose sizes are numbers, with a long outer loop last where the last one is shorter than a packet, and
/// with short reductions beside each other. Each point has the bits that it had: they depend on no order of points.
codegen::LoopProgram with_long_last_loop(codegen::LoopProgram program);

}  // namespace oriel::source::cpp
