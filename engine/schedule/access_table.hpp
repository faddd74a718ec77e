// The arguments and the accesses of a kernel, each listed once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
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

/// Fills the lists of the memory that a kernel's loops use. An argument or access that was added before is found again.
class AccessTable {
 public:
  AccessTable(const Arena& arena, const KernelGraph& graph, const Kernel& kernel, const StageLayout& layout,
              LoopMemory& memory)
      : arena_(arena), graph_(graph), kernel_(kernel), layout_(layout), memory_(memory) {}

  /// What is read or stored, and from where in the schedule.
  struct Read {
    EntryId entry;
    ScopeId scope;
    MapId map;
  };

  std::int32_t argument(EntryId entry, bool output);
  /// The argument, if any, that is read and whose memory the value is then written to; else -1.
  std::int32_t shared_argument(EntryId written) const;
  /// The access, with a map over the stage's outer loops, then its inner loops; the axes of the root scope are permuted
  /// to this order. It gives positions of the value's row-major elements or, with `strides`, positions in memory with
  /// these strides.
  std::int32_t add(std::int32_t argument, DType dtype, Read read, StageSlot at, bool store = false,
                   const Ints* strides = nullptr);

 private:
  const Arena& arena_;
  const KernelGraph& graph_;
  const Kernel& kernel_;
  const StageLayout& layout_;
  LoopMemory& memory_;
  static constexpr std::size_t kFewArguments = 16;                        // so many are searched one by one
  std::map<std::tuple<EntryId, bool, bool>, std::int32_t> argument_ids_;  // empty for few
  std::map<std::tuple<std::int32_t, int, MapId, bool, DType>, std::int32_t> access_ids_;
};

}  // namespace oriel::schedule
