// The tables of a plan: register pointers, constants, accesses, and the registers that are filled once.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "backend/eigen/tile/plan.hpp"
#include "codegen/loop_program.hpp"

namespace oriel::backend::eigen {

/// Adds rows to the tables of a plan while it is made.
class PlanTables {
 public:
  /// `framed`: the plan is part of another one's tiles (TileFrame). The arguments must outlive the object.
  PlanTables(const codegen::LoopProgram& program, const isa::Table& table, bool framed, Plan& plan);

  Slot new_slot(std::int64_t offset);
  /// Slot of a pinned register, or kNoSlot where the instruction needs its own.
  Slot pin(const codegen::Instr& in);
  /// Does a load read the same elements in every block?
  bool repeats(const codegen::Instr& in) const;
  std::int32_t add_constant(std::int32_t aux, DType dtype);
  std::int32_t add_access(const codegen::Access& access, AccessWalker walk, bool store);
  /// Is more than one output stored over an input?
  bool copied_inputs() const noexcept { return copied_inputs_; }

  static constexpr Slot kNoSlot = -1;

 private:
  Slot add_pinned(int log_bytes, std::int32_t constant, std::int32_t access);

  const codegen::LoopProgram& program_;
  const isa::Table& table_;
  const bool framed_;
  Plan& plan_;
  std::vector<bool> overwritten_;  // by argument: an output is stored over it
  bool copied_inputs_ = false;
  std::map<std::pair<std::int32_t, int>, Slot> pinned_constants_;
};

}  // namespace oriel::backend::eigen
