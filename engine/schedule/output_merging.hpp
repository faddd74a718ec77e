// Kernels that can compute one more stored value: those of the same domain, over reductions of the same loops.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "schedule/budget.hpp"
#include "schedule/kernel_patterns.hpp"
#include "schedule/kernels.hpp"

namespace oriel::schedule {

class OutputMerging {
 public:
  OutputMerging(const Arena& arena, const DeviceLimits& limits, const std::vector<ValueProperties>& properties,
                KernelGraph& graph, KernelPatterns& patterns, Budget& budget)
      : arena_(arena), limits_(limits), properties_(properties), graph_(graph), patterns_(patterns), budget_(budget) {}

  /// The newest kernel that may compute and store v beside its own values; -1 if there is none. The kernels at
  /// v's uses read it.
  KernelId kernel_to_extend(EntryId v);
  /// Kernel k stores v, and later values may join it.
  void add(EntryId v, KernelId k);

 private:
  const ValueProperties& properties(EntryId v) const { return properties_[static_cast<std::size_t>(v)]; }
  EntryId joinable_reduction(EntryId v) const;
  std::uint64_t key(EntryId v) const;

  const Arena& arena_;
  const DeviceLimits& limits_;
  const std::vector<ValueProperties>& properties_;
  KernelGraph& graph_;
  KernelPatterns& patterns_;
  Budget& budget_;
  std::unordered_map<std::uint64_t, KernelId> last_with_;
};

}  // namespace oriel::schedule
