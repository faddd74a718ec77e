// Counts the arguments of each kernel while kernels are formed, for devices that take a limited number.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_set>

#include "schedule/arena.hpp"
#include "schedule/kernels.hpp"

namespace oriel::schedule {

/// A value that a kernel needs is open until the scheduler decides on it. Then the kernel loads it, or needs its
/// sources instead. At worst all open values are loaded. So a kernel stays within a limit if its loaded, open and
/// stored values stay within it together. On a device without limits nothing is counted.
class Budget {
 public:
  Budget(const Arena& arena, const DeviceLimits& limits, KernelGraph& graph)
      : arena_(arena), limits_(limits), graph_(graph) {}

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
  Kernel& kernel(KernelId k) const { return graph_.kernels[static_cast<std::size_t>(k)]; }
  bool limited(KernelId k) const;
  bool is_parameter(EntryId v) const { return arena_[v].parameter >= 0; }
  bool is_number(EntryId v) const { return !arena_[v].device; }

  const Arena& arena_;
  const DeviceLimits& limits_;
  KernelGraph& graph_;
  std::unordered_set<Pair> needed_;  // counted already, whether their turn is over or not
  std::unordered_set<Pair> loaded_;
};

}  // namespace oriel::schedule
