// The uses of values while kernels are formed: a value is loaded or inlined at each of its uses, which then become uses
// of its sources.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "schedule/value_properties.hpp"

namespace oriel::schedule {

/// A value that a kernel needs is open until the scheduler decides on it. Then the kernel loads it, or needs its
/// sources instead. At worst all open values are loaded. So a kernel stays within a limit if its loaded, open and
/// stored values stay within it together. On a device without limits nothing is counted.
class Budget : FormingPart {
 public:
  explicit Budget(const FormingPart& forming) : FormingPart(forming) {}

  /// Kernel k needs v somewhere.
  void need(EntryId v, KernelId k);
  /// The scheduler decides on v, which is needed at `uses`, in order of kernels.
  void turn(EntryId v, std::span<const Use> uses);
  /// Kernel k loads v.
  void load(EntryId v, KernelId k);
  /// May kernel k compute v, which is being decided on, and store `outputs` more values?
  bool room(KernelId k, EntryId v, int outputs) const;
  /// Why there was no room.
  std::string full(KernelId k) const;

 private:
  using Pair = std::uint64_t;
  static Pair pair(EntryId v, KernelId k) {
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(v)) << 32 | static_cast<std::uint32_t>(k);
  }
  bool limited(KernelId k) const;
  bool is_parameter(EntryId v) const { return arena_[v].parameter >= 0; }
  bool is_number(EntryId v) const { return !arena_[v].device; }

  std::unordered_set<Pair> needed_;  // counted already, whether their turn is over or not
  std::unordered_set<Pair> loaded_;
};

/// Adds kernels, uses and instances to a KernelGraph.
class Inliner : FormingPart {
 public:
  /// The budget must outlive the object.
  Inliner(const FormingPart& forming, Budget& budget)
      : FormingPart(forming), budget_(budget), gathered_(arena_.size(), false) {}

  using FormingPart::kernel;
  using FormingPart::uses;
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
  void inline_reduction(EntryId v, std::size_t i);

  Budget& budget_;
  std::vector<bool> gathered_;  // read anywhere
};

}  // namespace oriel::schedule
