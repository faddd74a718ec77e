// Compares the cost of evaluating a value wherever it is needed with that of storing it once and reading it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "schedule/kernel_patterns.hpp"
#include "schedule/kernels.hpp"

namespace oriel::schedule {

/// Each answer is the reason in words why a value is stored; empty if recomputing it costs no more.
class Recomputation {
 public:
  Recomputation(const Arena& arena, const DeviceLimits& limits, const std::vector<ValueProperties>& properties,
                KernelGraph& graph, KernelPatterns& patterns)
      : arena_(arena), limits_(limits), properties_(properties), graph_(graph), patterns_(patterns) {}

  /// For an elementwise value, at all places where the kernel does not hold it yet.
  std::string loss(EntryId v);

 private:
  /// One evaluation of a value at a point, and memory that it reads.
  struct Evaluation {
    double nanoseconds = 0;
    double bytes = 0;     // of all operands, each counted once
    bool in_rows = true;  // do all operands lie along the last loop?
  };

  const ValueProperties& properties(EntryId v) const { return properties_[static_cast<std::size_t>(v)]; }
  const Kernel& kernel(const Use& p) const { return graph_.kernels[static_cast<std::size_t>(p.kernel)]; }
  std::string repetition(EntryId v, const Use& use);
  std::string operations(EntryId v) const;
  std::string time(EntryId v);
  bool evaluate(EntryId v, const Kernel& k, ScopeId scope, MapId map, Evaluation& out);
  double read(EntryId v, MapId map) const;
  bool keeps_row(EntryId v, const Kernel& k) const;

  const Arena& arena_;
  const DeviceLimits& limits_;
  const std::vector<ValueProperties>& properties_;
  KernelGraph& graph_;
  KernelPatterns& patterns_;
};

}  // namespace oriel::schedule
