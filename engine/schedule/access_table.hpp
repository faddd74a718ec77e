// The arguments and the accesses of a kernel, each listed once.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>

#include "schedule/loops.hpp"
#include "schedule/stage_layout.hpp"

namespace oriel::schedule {

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
