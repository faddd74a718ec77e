// Memory for values that live only between kernels: a few blocks, each of which is reused when its value is dead.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "oriel/device.hpp"
#include "schedule/arena.hpp"
#include "schedule/kernels.hpp"

namespace oriel::schedule {

/// A stored value: written by step `first`, last read by step `last` (steps in running order).
struct Lifetime {
  std::int64_t bytes = 0;
  std::int32_t first = 0;
  std::int32_t last = 0;
  Device device = {};
};

struct MemoryPlan {
  std::vector<std::int32_t> block_of;  // one for each lifetime
  std::vector<std::int64_t> block_bytes;
  std::vector<Device> block_device;  // one for each block
  std::int64_t peak_bytes = 0;       // all blocks together: what the schedule holds at once
  std::int64_t unshared_bytes = 0;   // what it would hold without reuse
};

/// Puts each value into the free block that fits best. If none fits, a free block grows. Two values share a block only
/// if they are on one device, and one is last read before the other is written.
MemoryPlan plan_memory(std::span<const Lifetime> lifetimes);

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
