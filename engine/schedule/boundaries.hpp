// Why a value is stored and not recomputed at its uses.
#pragma once

#include <cstdint>
#include <string>

#include "schedule/inlining.hpp"
#include "schedule/kernel_patterns.hpp"
#include "schedule/recomputation.hpp"

namespace oriel::schedule {

/// Each answer is the reason why a value is stored, in words, or empty where it can be evaluated in place.
class Boundaries {
 public:
  /// The arguments must outlive the object.
  Boundaries(const Arena& arena, const DeviceLimits& limits, const std::vector<ValueProperties>& properties,
             KernelGraph& graph, Budget& budget, KernelPatterns& patterns, Inliner& inliner)
      : arena_(arena),
        limits_(limits),
        properties_(properties),
        g_(graph),
        budget_(budget),
        patterns_(patterns),
        inliner_(inliner),
        recomputation_(arena, limits, properties, graph, patterns) {}

  /// Why a computed (not stored) value cannot be recomputed where it is needed; empty when it can.
  std::string of_value(EntryId v);
  /// Why a reduction cannot be a stage of the one kernel that needs it; empty when it can.
  std::string of_reduction(EntryId v);
  /// Why a reduction cannot be a stage of the kernel of this use; empty when it can.
  std::string of_stage(EntryId v, const Use& p);

 private:
  const ValueProperties& properties(EntryId v) const { return properties_[static_cast<std::size_t>(v)]; }
  const FusionLimits& limits(const Kernel& k) const { return limits_.of(k.device); }
  bool repeats(SymInt points, EntryId v, std::int64_t most) const;

  const Arena& arena_;
  const DeviceLimits& limits_;
  const std::vector<ValueProperties>& properties_;
  KernelGraph& g_;
  Budget& budget_;
  KernelPatterns& patterns_;
  Inliner& inliner_;
  Recomputation recomputation_;
};

}  // namespace oriel::schedule
