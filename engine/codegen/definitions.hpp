// What a loop program's values and accesses are used for, and programs made from a part of it: without loops, without
// unused accesses, or with accesses that begin elsewhere.
#pragma once

#include <cstdint>
#include <vector>

#include "codegen/loop_program.hpp"

namespace oriel::codegen {

/// The instruction that defines each value that a stage's body may use, in this stage or an earlier one. Results of
/// reductions have none.
class Definitions {
 public:
  Definitions(const LoopProgram& program, std::size_t stage);
  const Instr* of(ValueId v) const { return v == kNoValue ? nullptr : definition_[static_cast<std::size_t>(v)]; }

  /// Appends the instructions that compute v, producers first. False if v depends on the result of a reduction.
  bool gather(ValueId v, std::vector<Instr>& list) const;

 private:
  void add(const std::vector<Instr>& list);

  const LoopProgram& program_;
  std::vector<const Instr*> definition_;
};

/// The instruction that defines each value, in any stage; null for results of reductions.
std::vector<const Instr*> definitions_of(const LoopProgram& program);

/// Does it have an access, and a result?
inline bool reads(const Instr& in) { return has_access(in) && in.code != Code::Store; }

/// A body without loops runs once for each outer point, as outer instructions do.
inline bool has_loops(const Stage& stage) {
  return !stage.reductions.empty() || (!stage.body.empty() && !stage.inner.empty());
}

/// The one stage that has loops, or a reduction; the number of stages where there is none or several.
std::size_t only_loops(const LoopProgram& program);

/// Drops the accesses that no instruction names. The others come in the order in which instructions name them. Returns
/// the number that each of them had.
std::vector<std::int32_t> drop_unused_accesses(LoopProgram& program);

/// A program with the given outer loops and one stage, which has no loops of its own. Values, arguments and constants
/// have the numbers that they have in `program`.
LoopProgram without_loops(const LoopProgram& program, Ints outer);

/// `stage` is the only stage with loops. Returns the instructions outside its loops that stores need, as a program
/// without inner loops. Its outer loops have these `extents`; `order` names the loop of `program` that each of them
/// was.
LoopProgram after_stage(const LoopProgram& program, std::size_t stage, const Ints& order, const Ints& extents);

/// Where the first access of each argument begins. 0 for arguments that are gathered from or read through several maps,
/// and for local ones. An output in the memory of an input has the input's number.
std::vector<std::int64_t> argument_bases(const LoopProgram& program);
/// Subtracts these numbers from the offsets of all accesses. The program computes the same if each argument's memory is
/// passed from that element on.
void take_bases(LoopProgram& program);

}  // namespace oriel::codegen
