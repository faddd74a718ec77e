// Would fusing a value cost a kernel the fast form of its reduction (reduction_patterns.hpp)?
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "schedule/kernels.hpp"
#include "schedule/reduction_patterns.hpp"

namespace oriel::schedule {

/// Each answer is the reason in words why a value is stored; empty if nothing is lost.
class KernelPatterns {
 public:
  KernelPatterns(const Arena& arena, const DeviceLimits& limits, const std::vector<ValueProperties>& properties,
                 KernelGraph& graph)
      : arena_(arena),
        limits_(limits),
        properties_(properties),
        graph_(graph),
        patterns_(arena, properties, graph.maps) {}

  /// May reductions `v` and `other` share a kernel?
  std::string conflict(EntryId v, EntryId other);
  /// May reduction v be a stage of the kernel of `use`? `axes`: the axes of the kernel's root on which it depends.
  std::string loss(EntryId v, const Use& use, std::vector<bool> axes);
  /// May v, which is computed from a reduction's results, be evaluated at so many points? If not, the reduction's own
  /// kernel computes it, along with the results.
  std::string end_of_results(EntryId v, std::int64_t points);
  /// Does v reduce windows? Yes if symbolic sizes decide.
  bool windows(EntryId v);
  ReductionPatterns& patterns() { return patterns_; }
  /// The form of the reduction around a use; null if that is a plain one, or if there is none.
  const ReductionPattern* around(const Use& use);

 private:
  const ValueProperties& properties(EntryId v) const { return properties_[static_cast<std::size_t>(v)]; }
  const Kernel& kernel(const Use& p) const { return graph_.kernels[static_cast<std::size_t>(p.kernel)]; }
  const ReductionPattern* pattern(EntryId v);
  bool many(std::int64_t points, EntryId v) const;
  bool rereads(EntryId v, KernelId k);

  const Arena& arena_;
  const DeviceLimits& limits_;
  const std::vector<ValueProperties>& properties_;
  KernelGraph& graph_;
  ReductionPatterns patterns_;
};

}  // namespace oriel::schedule
