// What is chosen before the loops of a kernel are written: its tiles, and how long its values live.
#pragma once

#include <cstdint>
#include <vector>

#include "codegen/loop_program.hpp"
#include "source/cpp/kernel_sizes.hpp"
#include "source/cpp/loops_source.hpp"
#include "source/cpp/value_statements.hpp"

namespace oriel::source::cpp {

// The elements of a block of rows, chosen so that the rows stay in cache from stage to stage.
inline constexpr std::int64_t kRowElements = 4096;
inline constexpr std::int64_t kMostRows = 64;

/// How the points of a kernel are cut into tiles and, where rows are walked, into blocks of rows.
struct Tiling {
  bool rows = false;               // true: tiles of inner points; false: tiles of outer points
  int tile = 256;                  // elements
  std::int64_t row_step = 1;       // rows of a block, at most
  std::vector<bool> in_registers;  // by stage: its reductions gather in registers, so their inputs need no tile

  /// Elements of a Rows: one for each row of a block, and what fills the last register.
  std::int64_t rows_length() const { return (row_step + 15) / 16 * 16; }
};

/// `framed`: are variables members of a frame?
Tiling choose_tiling(const codegen::LoopProgram& program, const KernelSizes& sizes, const PacketForm& packets,
                     const LoopsForm& form, bool framed);

/// Sets the last use of each value. Returns, by stage, the outer values that its loops read.
std::vector<std::vector<codegen::ValueId>> find_lives(const codegen::LoopProgram& program,
                                                      std::vector<PlacedValue>& values);

}  // namespace oriel::source::cpp
