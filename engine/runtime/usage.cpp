#include "runtime/usage.hpp"

#include <algorithm>

namespace oriel::runtime {

using graph::Node;

namespace {

constexpr std::size_t kMostSteps = 1 << 20;  // steps of the search for early readers; if it takes more, there are none

}  // namespace

void Usage::count_nodes(const graph::Order& order, std::span<const std::size_t> more) {
  const std::size_t n = order.size();
  order_ = &order;
  uses_.assign(n, 0);
  for (const std::int32_t s : order.all_sources()) ++uses_[static_cast<std::size_t>(s)];
  root_.assign(n, false);
  for (const std::int32_t r : order.roots()) root_[static_cast<std::size_t>(r)] = true;
  for (const std::size_t r : more) root_[r] = true;
  held_.assign(n, false);
  for (std::size_t i = 0; i < n; ++i) held_[i] = order[i].references.load(std::memory_order_acquire) > uses_[i];

  // Mark what held nodes can still read after the roots are realised, down to the buffers. Realised roots read nothing
  // any more.
  waits_ = held_;
  for (std::size_t i = n; i-- > 0;) {
    if (!waits_[i] || root_[i]) continue;
    for (const std::int32_t s : order.sources(i)) waits_[static_cast<std::size_t>(s)] = true;
  }
}

void Usage::count(const graph::Order& order, std::span<const mem::BufferPtr> ours, std::span<const std::size_t> more) {
  count_nodes(order, more);
  const std::size_t n = order.size();
  buffers_.clear();
  for (const mem::BufferPtr& buffer : ours) ++buffers_[buffer.get()].known;
  for (std::size_t i = 0; i < n; ++i) {
    if (!order.in_memory(i)) continue;
    const Node& node = order[i];
    Holders& holders = buffers_[node.buffer.get()];
    holders.known += 1 + (std::holds_alternative<mem::BufferPtr>(node.arg) ? 1 : 0);
    holders.held = holders.held || held_[i];
    holders.waits = holders.waits || waits_[i];
  }
  for (std::size_t i = 0; i < n; ++i) {
    if (!order.in_memory(i)) continue;
    Holders& holders = buffers_[order[i].buffer.get()];
    holders.held = holders.held || mem::holders_of(order[i].buffer) > holders.known;
  }
}

Usage::Readers Usage::readers(const mem::Buffer* buffer) const {
  const auto found = buffers_.find(buffer);
  if (found == buffers_.end() || found->second.held) return Readers::elsewhere;
  return found->second.waits ? Readers::pending : Readers::none;
}

std::vector<std::size_t> Usage::early_readers() const {
  if (std::none_of(buffers_.begin(), buffers_.end(), [](const auto& b) { return b.second.waits && !b.second.held; }))
    return {};
  const graph::Order& order = *order_;
  const std::size_t n = order.size();
  // Collect the leaves that will be overwritten and that only pending values below the roots still read, in order of
  // appearance.
  std::vector<const mem::Buffer*> under(n, nullptr), targets;
  for (std::size_t i = 0; i < n; ++i) {
    if (order.in_memory(i)) under[i] = order[i].buffer.get();
    if (order.in_memory(i) || order[i].op != graph::Op::Assign) continue;
    const auto below = static_cast<std::size_t>(order.sources(i)[0]);
    const bool memory = order.in_memory(below) || order[below].op == graph::Op::Assign;
    under[i] = memory ? under[below] : nullptr;
    if (under[i] == nullptr || !under[i]->writable() || readers(under[i]) != Readers::pending) continue;
    if (std::find(targets.begin(), targets.end(), under[i]) == targets.end()) targets.push_back(under[i]);
  }
  if (targets.empty() || targets.size() * n > kMostSteps) return {};

  std::vector<bool> whole = root_;
  for (std::size_t i = n; i-- > 0;) {
    const graph::Op op = order[i].op;
    if (order.in_memory(i) || !whole[i] || reads_part(op)) continue;
    for (const std::int32_t s : order.sources(i).subspan(op == graph::Op::Assign ? 1 : 0))
      whole[static_cast<std::size_t>(s)] = true;
  }

  std::vector<bool> early(n, false);
  for (const mem::Buffer* target : targets) {
    std::vector<bool> reads(n, false);
    std::vector<std::size_t> realised_early;
    std::uint64_t bytes = 0;
    bool fit = true;
    for (std::size_t i = 0; i < n && fit; ++i) {
      const Node& node = order[i];
      if (order.in_memory(i)) {
        reads[i] = node.buffer.get() == target;
        continue;
      }
      if (root_[i] || early[i]) continue;  // realised: reads nothing any more
      const std::span<const std::int32_t> sources = order.sources(i);
      reads[i] = std::any_of(sources.begin(), sources.end(),
                             [&](std::int32_t s) { return reads[static_cast<std::size_t>(s)]; });
      if (!reads[i] || !held_[i]) continue;
      const auto elements = static_cast<std::uint64_t>(numel(node.shape).value());
      fit = whole[i] && elements <= target->bytes();
      bytes += elements * itemsize(node.dtype);
      reads[i] = false;
      realised_early.push_back(i);
    }
    if (!fit || bytes > target->bytes()) continue;
    for (const std::size_t i : realised_early) early[i] = true;
  }
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < n; ++i)
    if (early[i]) out.push_back(i);
  return out;
}

}  // namespace oriel::runtime
