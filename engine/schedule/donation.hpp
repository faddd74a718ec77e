// Values that are stored over what their own kernel reads for the last time.
#pragma once

#include <functional>
#include <span>

#include "schedule/arena.hpp"
#include "schedule/kernels.hpp"

namespace oriel::schedule {

/// Is this leaf's memory an output's for the taking, once the work is done with it?
using LeafDies = std::function<bool(EntryId)>;

/// Fills KernelGraph::donors, once the running order is settled: a value takes the memory of one that its kernel is the
/// last to read, if both have the same elements in the same order of memory and each point reads there only what it
/// overwrites. The memory of a requested value is never taken. Writes, the memory that they reuse and values of fused
/// kernels take no part. A leaf's memory goes only to a value that ends in a requested result's memory, and only if
/// every later kernel overwrites a leaf or depends on one that does. So no kernel has to move, and a failure before the
/// first of them changes nothing.
void donate_memory(const Arena& arena, std::span<const EntryId> requested, const LeafDies& dies, KernelGraph& graph);

}  // namespace oriel::schedule
