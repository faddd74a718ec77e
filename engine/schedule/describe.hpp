// The schedule in words: values, what each kernel holds, and by which movements a value is reached.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "schedule/arena.hpp"
#include "schedule/kernels.hpp"

namespace oriel::schedule {

/// "%7".
std::string value_name(EntryId id);
/// "%7 = Permute (1, 0) of %3: float32 (6, 4)". Numbers given at launch read "parameter 0".
std::string value_text(const Arena& arena, EntryId id);
/// "photo.cpp:41", the line that asked for the value; empty where it is unknown.
std::string site_text(const graph::Site& site);

/// A value that a kernel evaluates, and the number of places in the kernel at which it does.
struct HeldValue {
  EntryId entry = kNone;
  int places = 0;
};
/// What a kernel evaluates, producers first. Values that it only loads are not among them.
std::vector<HeldValue> held_values(const Arena& arena, const Kernel& kernel);

/// How a kernel reaches a value, as the program wrote it, before anything was merged.
struct Path {
  /// Nearest to the value first: "permute (1, 0)", "pad ((1, 1), (0, 0))", "sum over (1)".
  std::vector<std::string> steps;
  /// The value's own elements and one view for each movement up to the first reduction, innermost first.
  std::vector<View> views;
};

/// The paths of one kernel.
class Paths {
 public:
  Paths(const Arena& arena, const KernelGraph& graph, KernelId kernel);
  /// If several consumers read the place, the path of the first is given: all reach it by the same merged map.
  Path to(EntryId entry, ScopeId scope, MapId map) const;

 private:
  struct Spot {
    EntryId entry;
    ScopeId scope;
    MapId map;
    friend bool operator==(const Spot&, const Spot&) = default;
  };
  struct SpotHash {
    std::size_t operator()(const Spot& s) const noexcept;
  };
  const Arena& arena_;
  const Kernel& kernel_;
  std::unordered_map<Spot, std::uint32_t, SpotHash> reader_;  // the first instance that reads a spot
};

/// Which step of the schedule each kernel is.
std::vector<int> running_order(const KernelGraph& graph);

/// The rewritten graph for Graphviz: each value once, coloured by the kernel that evaluates it, with a double line
/// where it is stored.
std::string graph_dot(const Arena& arena, const KernelGraph& graph);

}  // namespace oriel::schedule
