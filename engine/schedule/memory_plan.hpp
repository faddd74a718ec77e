// Memory for values that live only between kernels: a few blocks, each of which is reused when its value is dead.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "oriel/device.hpp"

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

}  // namespace oriel::schedule
