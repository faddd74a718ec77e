#include "runtime/usage.hpp"

#include <algorithm>

namespace oriel::runtime {

using graph::Node;
using graph::NodePtr;

namespace {

constexpr std::size_t kMostSteps = 1 << 20;  // of looking for early readers; beyond, there are none

}  // namespace

void Usage::count(std::span<const Node* const> nodes, std::span<const NodePtr> roots,
                  std::span<const mem::BufferPtr> ours) {
  const std::size_t n = nodes.size();
  nodes_.assign(nodes.begin(), nodes.end());
  index_.clear();
  index_.reserve(n);
  for (std::size_t i = 0; i < n; ++i) index_.emplace(nodes[i], i);
  std::vector<std::uint32_t> uses(n, 0);
  for (const Node* node : nodes) {
    if (node->realized()) continue;
    for (const NodePtr& s : node->sources) ++uses[index_.at(s.get())];
  }
  root_.assign(n, false);
  for (const NodePtr& r : roots) root_[index_.at(r.get())] = true;
  held_.assign(n, false);
  for (std::size_t i = 0; i < n; ++i) held_[i] = nodes[i]->references.load(std::memory_order_acquire) > uses[i];

  // What a held node can still read after the roots are realised, down to the buffers. Roots read nothing any more.
  std::vector<bool> seen = held_;
  buffers_.clear();
  for (const mem::BufferPtr& buffer : ours) ++buffers_[buffer.get()].known;
  for (std::size_t i = n; i-- > 0;) {
    const Node& node = *nodes[i];
    if (!node.realized()) {
      if (!seen[i] || root_[i]) continue;
      for (const NodePtr& s : node.sources) seen[index_.at(s.get())] = true;
      continue;
    }
    Holders& holders = buffers_[node.buffer.get()];
    holders.known += 1 + (std::holds_alternative<mem::BufferPtr>(node.arg) ? 1 : 0);
    holders.held = holders.held || held_[i];
    holders.waits = holders.waits || seen[i];
  }
  for (const Node* node : nodes) {
    if (!node->realized()) continue;
    Holders& holders = buffers_[node->buffer.get()];
    holders.held = holders.held || node->buffer.use_count() > holders.known;
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
  const std::size_t n = nodes_.size();
  const auto index = [&](const NodePtr& node) { return index_.at(node.get()); };
  // The leaves under writes that only values below the roots wait to read, in order of appearance.
  std::vector<const mem::Buffer*> under(n, nullptr), targets;
  for (std::size_t i = 0; i < n; ++i) {
    const Node& node = *nodes_[i];
    if (node.realized()) under[i] = node.buffer.get();
    if (node.realized() || node.op != graph::Op::Assign) continue;
    const std::size_t below = index(node.sources[0]);
    const bool memory = nodes_[below]->realized() || nodes_[below]->op == graph::Op::Assign;
    under[i] = memory ? under[below] : nullptr;
    if (under[i] == nullptr || !under[i]->writable() || readers(under[i]) != Readers::pending) continue;
    if (std::find(targets.begin(), targets.end(), under[i]) == targets.end()) targets.push_back(under[i]);
  }
  if (targets.empty() || targets.size() * n > kMostSteps) return {};

  std::vector<bool> whole = root_;
  for (std::size_t i = n; i-- > 0;) {
    const Node& node = *nodes_[i];
    const bool part = node.op == graph::Op::Shrink || node.op == graph::Op::RawView;
    if (node.realized() || !whole[i] || part) continue;
    for (std::size_t k = node.op == graph::Op::Assign ? 1 : 0; k < node.sources.size(); ++k)
      whole[index(node.sources[k])] = true;
  }

  std::vector<bool> early(n, false);
  for (const mem::Buffer* target : targets) {
    std::vector<bool> reads(n, false);
    std::vector<std::size_t> found;
    std::uint64_t bytes = 0;
    bool fit = true;
    for (std::size_t i = 0; i < n && fit; ++i) {
      const Node& node = *nodes_[i];
      if (node.realized()) {
        reads[i] = node.buffer.get() == target;
        continue;
      }
      if (root_[i] || early[i]) continue;  // realised, it reads nothing
      reads[i] =
          std::any_of(node.sources.begin(), node.sources.end(), [&](const NodePtr& s) { return reads[index(s)]; });
      if (!reads[i] || !held_[i]) continue;
      const auto elements = static_cast<std::uint64_t>(numel(node.shape).value());
      fit = whole[i] && elements <= target->bytes();
      bytes += elements * itemsize(node.dtype);
      reads[i] = false;
      found.push_back(i);
    }
    if (!fit || bytes > target->bytes()) continue;
    for (const std::size_t i : found) early[i] = true;
  }
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < n; ++i)
    if (early[i]) out.push_back(i);
  return out;
}

}  // namespace oriel::runtime
