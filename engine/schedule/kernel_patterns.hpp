// Would fusing a value cost a kernel the fast form of its reduction (reduction_patterns.hpp)?
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "schedule/inlining.hpp"
#include "schedule/reduction_patterns.hpp"

namespace oriel::schedule {

/// Each answer is the reason in words why a value is stored; empty if nothing is lost.
class KernelPatterns : FormingPart {
 public:
  explicit KernelPatterns(const FormingPart& forming)
      : FormingPart(forming), patterns_(arena_, properties_, graph_.maps) {}

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
  const ReductionPattern* pattern(EntryId v);
  bool many(std::int64_t points, EntryId v) const;
  bool rereads(EntryId v, KernelId k);

  ReductionPatterns patterns_;
};

class OutputMerging : FormingPart {
 public:
  OutputMerging(const FormingPart& forming, KernelPatterns& patterns, Budget& budget)
      : FormingPart(forming), patterns_(patterns), budget_(budget) {}

  /// The newest kernel that may compute and store v beside its own values; -1 if there is none. The kernels at
  /// v's uses read it.
  KernelId kernel_to_extend(EntryId v);
  /// Kernel k stores v, and later values may join it.
  void add(EntryId v, KernelId k);

 private:
  EntryId joinable_reduction(EntryId v) const;
  std::uint64_t key(EntryId v) const;

  KernelPatterns& patterns_;
  Budget& budget_;
  std::unordered_map<std::uint64_t, KernelId> last_with_;
};

}  // namespace oriel::schedule
