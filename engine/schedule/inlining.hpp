// The uses of values while kernels are formed: a value is loaded or inlined at each of its uses, which then become uses
// of its sources.
#pragma once

#include <algorithm>
#include <vector>

#include "schedule/budget.hpp"
#include "schedule/kernels.hpp"
#include "schedule/value_properties.hpp"

namespace oriel::schedule {

/// Adds kernels, uses and instances to a KernelGraph.
class Inliner {
 public:
  /// The arguments must outlive the object.
  Inliner(const Arena& arena, const std::vector<ValueProperties>& properties, KernelGraph& graph, Budget& budget)
      : arena_(arena), properties_(properties), g_(graph), budget_(budget), gathered_(arena.size(), false) {}

  Kernel& kernel(KernelId k) { return g_.kernels[static_cast<std::size_t>(k)]; }
  auto& uses(EntryId v) { return g_.uses[static_cast<std::size_t>(v)]; }
  /// Does a kernel read v anywhere?
  bool gathered(EntryId v) const { return gathered_[static_cast<std::size_t>(v)]; }

  KernelId new_kernel(EntryId root, const Shape& domain);
  void add_use(EntryId v, KernelId k, ScopeId scope, MapId map);
  std::int32_t add_instance(KernelId k, const Instance& instance);
  /// Sorts the uses of v.
  void sort(EntryId v);
  /// Moves uses that need the parallel axes alone to the outer scope, sorts and joins equal ones.
  void settle(EntryId v);
  /// Loads v, which kernel `from` stores (-1 for a leaf), at its i-th use.
  void load_at(EntryId v, std::size_t i, KernelId from);
  /// Kernel k reads any element of v at each of its points: v is in memory before it runs.
  void read_anywhere(EntryId v, KernelId k);
  /// Computes v at its i-th use, and adds the use to its sources.
  void inline_at(EntryId v, std::size_t i);

  /// The axes of the kernel's root on which the value at a root-scope map depends.
  std::vector<bool> needed_axes(const Kernel& k, MapId map) const;

 private:
  const ValueProperties& properties(EntryId v) const { return properties_[static_cast<std::size_t>(v)]; }
  void inline_reduction(EntryId v, std::size_t i);

  const Arena& arena_;
  const std::vector<ValueProperties>& properties_;
  KernelGraph& g_;
  Budget& budget_;
  std::vector<bool> gathered_;  // read anywhere
};

}  // namespace oriel::schedule
