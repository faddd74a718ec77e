// Gathers with the arithmetic of their positions.
//
// A position is mostly one number of a list, the key, of which a few operations make a position in memory: one that
// counts from the end is moved, one outside becomes none, and a stride is multiplied. On a range of keys all that is
// one line, so a gather reads its keys as they are, and the operations are computed once for each range
// (Worker::trace). Where the positions grow by one along the last loop, whole rows are read.
#pragma once

#include <vector>

#include "codegen/loop_program.hpp"

namespace oriel::backend::eigen {

/// The most operations that make a position of a key.
inline constexpr std::size_t kMostKeySteps = 32;

struct Lookup {
  codegen::ValueId position = codegen::kNoValue;  // of the element or row, without what is added to it
  std::vector<codegen::Instr> steps;              // compute it from operand a of the gather, producers first
  std::int64_t column = 0;                        // of rows: where the first point of the last loop is in its row
  bool rows = false;
};

struct Lookups {
  /// The program's stages. Operand a of a gather is its key, b what is added to the position of that key, and c a
  /// condition of the steps.
  std::vector<codegen::Stage> stages;
  std::vector<Lookup> found;
  std::vector<std::int32_t> of;  // by value: of a gather's result its number in `found`; else -1
  std::vector<bool> starts;      // by value: computed for the first point of each row alone
  bool rows = false;             // are there rows?
  bool alone = false;            // the program reads, gathers and stores, and computes nothing
};

/// `wanted`: a value that is read from outside, or kNoValue. `rows`: may the tiles be rows of the last loop? That needs
/// a program without inner loops.
Lookups find_lookups(const codegen::LoopProgram& program, codegen::ValueId wanted, bool rows);

}  // namespace oriel::backend::eigen
