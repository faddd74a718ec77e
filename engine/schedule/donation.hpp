// Values that are stored over what their own kernel reads for the last time.
#pragma once

#include <functional>
#include <span>

#include "schedule/arena.hpp"
#include "schedule/kernels.hpp"

namespace oriel::schedule {

/// Is this leaf's memory an output's for the taking, once the work is done with it?
using LeafDies = std::function<bool(EntryId)>;

/// Fills KernelGraph::donors, once the running order is settled: a value takes the memory of one that its kernel is
/// the last to read, if both have the same elements in the same order of memory and each point reads there only what it
/// overwrites. What was asked for, and what a write has to do with, is left alone. A leaf is taken only for a value
/// that was asked for, and only where every kernel behind needs what overwrites a leaf, or overwrites one too: so a
/// failure before the first of them has changed nothing, and no kernel has to be moved.
void donate_memory(const Arena& arena, std::span<const EntryId> requested, const LeafDies& dies, KernelGraph& graph);

}  // namespace oriel::schedule
