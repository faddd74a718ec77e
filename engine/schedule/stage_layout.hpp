// The stages of a kernel's loops, and the place of each value in them.
#pragma once

#include <cstddef>
#include <vector>

#include "schedule/loops.hpp"

namespace oriel::schedule {

/// Lays out the stages of a kernel. Each instance gets the level at which it is known: 0 before any reduction, n + 1
/// after the reductions of level n. Stages follow each other by the level of their reductions, and the stage of the
/// root comes last.
class StageLayout {
 public:
  StageLayout(const Arena& arena, const Kernel& kernel, const LoopValues& values, LoopNest& nest)
      : arena_(arena), kernel_(kernel), values_(values), nest_(nest) {}

  /// Precondition: the operands of the values are known.
  void run();

  /// The slot in which a scope evaluates an instance.
  StageSlot slot(ScopeId scope, std::size_t instance) const;
  /// Are some axes of the scope outer loops, and the others loops of the last stage?
  bool splits_axes(ScopeId scope) const { return effective(scope) == kRootScope && root_stage_ >= 0; }

 private:
  bool all_outer() const { return !kernel_.outer_known; }
  /// Without reductions the root's domain is the outer one.
  ScopeId effective(ScopeId scope) const { return scope == kRootScope && all_outer() ? kOuterScope : scope; }
  void find_levels();
  void lay_out();

  const Arena& arena_;
  const Kernel& kernel_;
  const LoopValues& values_;
  LoopNest& nest_;
  std::vector<int> level_;            // of each instance
  std::vector<int> reduction_level_;  // of the value that each reduction reads
  std::vector<int> stage_level_;      // of each stage's reductions
  int root_stage_ = -1;
};

}  // namespace oriel::schedule
