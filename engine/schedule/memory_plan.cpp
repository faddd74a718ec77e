#include "schedule/memory_plan.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <queue>

namespace oriel::schedule {

MemoryPlan plan_memory(std::span<const Lifetime> lifetimes) {
  MemoryPlan plan;
  plan.block_of.assign(lifetimes.size(), -1);
  std::vector<std::int32_t> by_start(lifetimes.size());
  std::iota(by_start.begin(), by_start.end(), 0);
  std::stable_sort(by_start.begin(), by_start.end(), [&](std::int32_t a, std::int32_t b) {
    return lifetimes[static_cast<std::size_t>(a)].first < lifetimes[static_cast<std::size_t>(b)].first;
  });
  std::map<std::tuple<DeviceKind, int, int>, std::multimap<std::int64_t, std::int32_t>> free_on;  // bytes -> block
  const auto free_of = [&](Device device) -> auto& { return free_on[{device.kind, device.index, device.context}]; };
  using Ending = std::pair<std::int32_t, std::int32_t>;  // (last, block)
  std::priority_queue<Ending, std::vector<Ending>, std::greater<>> busy;
  for (std::int32_t i : by_start) {
    const Lifetime& life = lifetimes[static_cast<std::size_t>(i)];
    plan.unshared_bytes += life.bytes;
    while (!busy.empty() && busy.top().first < life.first) {
      const std::int32_t block = busy.top().second;
      busy.pop();
      const auto b = static_cast<std::size_t>(block);
      free_of(plan.block_device[b]).emplace(plan.block_bytes[b], block);
    }
    auto& free = free_of(life.device);
    auto fit = free.lower_bound(life.bytes);
    if (fit == free.end() && !free.empty()) fit = std::prev(free.end());  // the largest grows least
    std::int32_t block = 0;
    if (fit == free.end()) {
      block = static_cast<std::int32_t>(plan.block_bytes.size());
      plan.block_bytes.push_back(life.bytes);
      plan.block_device.push_back(life.device);
    } else {
      block = fit->second;
      free.erase(fit);
      auto& bytes = plan.block_bytes[static_cast<std::size_t>(block)];
      bytes = std::max(bytes, life.bytes);
    }
    plan.block_of[static_cast<std::size_t>(i)] = block;
    busy.emplace(life.last, block);
  }
  plan.peak_bytes = std::accumulate(plan.block_bytes.begin(), plan.block_bytes.end(), std::int64_t{0});
  return plan;
}

}  // namespace oriel::schedule
