// Why a value is stored and not recomputed at its uses.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "schedule/inlining.hpp"
#include "schedule/kernel_patterns.hpp"

namespace oriel::schedule {

/// Each answer is the reason in words why a value is stored; empty if recomputing it costs no more.
class Recomputation : FormingPart {
 public:
  Recomputation(const FormingPart& forming, KernelPatterns& patterns) : FormingPart(forming), patterns_(patterns) {}

  /// For an elementwise value, at all places where the kernel does not hold it yet.
  std::string loss(EntryId v);

 private:
  /// One evaluation of a value at a point, and memory that it reads.
  struct Evaluation {
    double nanoseconds = 0;
    double bytes = 0;     // of all operands, each counted once
    bool in_rows = true;  // do all operands lie along the last loop?
  };

  std::string repetition(EntryId v, const Use& use);
  std::string operations(EntryId v) const;
  std::string time(EntryId v);
  bool evaluate(EntryId v, const Kernel& k, ScopeId scope, MapId map, Evaluation& out);
  double read(EntryId v, MapId map) const;
  bool keeps_row(EntryId v, const Kernel& k) const;

  KernelPatterns& patterns_;
};

/// Each answer is the reason why a value is stored, in words, or empty where it can be evaluated in place.
class Boundaries : FormingPart {
 public:
  /// The arguments must outlive the object.
  Boundaries(const FormingPart& forming, Budget& budget, KernelPatterns& patterns, Inliner& inliner)
      : FormingPart(forming),
        budget_(budget),
        patterns_(patterns),
        inliner_(inliner),
        recomputation_(forming, patterns) {}

  /// Why a computed (not stored) value cannot be recomputed where it is needed; empty when it can.
  std::string of_value(EntryId v);
  /// Why a reduction cannot be a stage of the one kernel that needs it; empty when it can.
  std::string of_reduction(EntryId v);
  /// Why a reduction cannot be a stage of the kernel of this use; empty when it can.
  std::string of_stage(EntryId v, const Use& p);

 private:
  bool repeats(SymInt points, EntryId v, const FusionLimits& limits) const;

  Budget& budget_;
  KernelPatterns& patterns_;
  Inliner& inliner_;
  Recomputation recomputation_;
};

}  // namespace oriel::schedule
