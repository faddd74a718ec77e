#include "runtime/usage.hpp"

namespace oriel::runtime {

using graph::Node;
using graph::NodePtr;

void Usage::count(std::span<const Node* const> nodes, std::span<const NodePtr> roots) {
  const std::size_t n = nodes.size();
  std::unordered_map<const Node*, std::size_t> index;
  index.reserve(n);
  for (std::size_t i = 0; i < n; ++i) index.emplace(nodes[i], i);
  std::vector<std::uint32_t> uses(n, 0);
  for (const Node* node : nodes) {
    if (node->realized()) continue;
    for (const NodePtr& s : node->sources) ++uses[index.at(s.get())];
  }
  root_.assign(n, false);
  for (const NodePtr& r : roots) root_[index.at(r.get())] = true;
  held_.assign(n, false);
  for (std::size_t i = 0; i < n; ++i) held_[i] = nodes[i]->references.load(std::memory_order_acquire) > uses[i];

  // What a held node can still read after the roots are realised, down to the buffers. Roots read nothing any more.
  std::vector<bool> seen = held_;
  buffers_.clear();
  for (std::size_t i = n; i-- > 0;) {
    const Node& node = *nodes[i];
    if (!node.realized()) {
      if (!seen[i] || root_[i]) continue;
      for (const NodePtr& s : node.sources) seen[index.at(s.get())] = true;
      continue;
    }
    Holders& holders = buffers_[node.buffer.get()];
    holders.known += 1 + (std::holds_alternative<memory::BufferPtr>(node.arg) ? 1 : 0);
    holders.escapes = holders.escapes || seen[i];
  }
  for (const Node* node : nodes) {
    if (!node->realized()) continue;
    Holders& holders = buffers_[node->buffer.get()];
    holders.escapes = holders.escapes || node->buffer.use_count() > holders.known;
  }
}

bool Usage::free(const memory::Buffer* buffer) const {
  const auto found = buffers_.find(buffer);
  return found != buffers_.end() && !found->second.escapes;
}

}  // namespace oriel::runtime
