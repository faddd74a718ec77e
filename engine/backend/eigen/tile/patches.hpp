// Values that are put together of parts of memory: what concat, stack, roll and modes of pad read.
//
// A program chooses among the parts: where(valid, load, where(valid, load, ..)). The elements of each load are in the
// box of the loops that its question names. As a patch, the parts copy their elements to their places in a tile, so a
// tile costs what it has, however many parts there are.
#pragma once

#include <cstdint>
#include <vector>

#include "codegen/loop_program.hpp"

namespace oriel::backend::eigen {

struct PatchParts {
  std::vector<std::int32_t> accesses;  // of the loads, numbered in the program; their boxes are disjoint
  bool whole = false;                  // together they have all points
};

struct PatchedStages {
  std::vector<codegen::Stage> stages;
  std::vector<PatchParts> patches;
};

/// The program with these stages. A choice among parts is one instruction there: a Where whose `aux` is the number of
/// its patch and whose operand a, if it has one, is the value beside the parts. `wanted` stays a value of its own;
/// kNoValue for none.
PatchedStages join_patches(const codegen::LoopProgram& program, const std::vector<codegen::Stage>& stages,
                           codegen::ValueId wanted);

/// Is it a choice among parts?
inline bool is_patch(const codegen::Instr& in) noexcept {
  return in.code == codegen::Code::Elementwise && in.op == graph::Op::Where && in.aux >= 0;
}

}  // namespace oriel::backend::eigen
