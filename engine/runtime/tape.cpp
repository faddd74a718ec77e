#include "runtime/tape.hpp"

#include <utility>
#include <vector>

namespace oriel::runtime {

using graph::Node;
using graph::NodePtr;

constinit thread_local Tape* Tape::outermost = nullptr;
constinit std::atomic<int> Tape::under_way{0};
constinit thread_local int StandIns::own = 0;
constinit std::atomic<int> StandIns::under_way{0};

StandIns::StandIns() noexcept {
  ++own;
  under_way.fetch_add(1, std::memory_order_relaxed);
}
StandIns::~StandIns() {
  under_way.fetch_sub(1, std::memory_order_relaxed);
  --own;
}

Tape::Tape() : outer_(outermost == nullptr) {
  if (!outer_) return;
  outermost = this;
  under_way.fetch_add(1, std::memory_order_relaxed);
}

Tape::~Tape() {
  if (!outer_) return;
  under_way.fetch_sub(1, std::memory_order_relaxed);
  outermost = nullptr;
}

void Tape::keep(std::span<const NodePtr> roots) {
  if (!current()) return;
  auto& kept = outermost->kept_;
  std::vector<NodePtr> waiting(roots.begin(), roots.end());
  while (!waiting.empty()) {
    NodePtr node = std::move(waiting.back());
    waiting.pop_back();
    if (node->realized() || kept.contains(node.get())) continue;
    Node::Sources sources = node->lazy_sources();
    if (sources.empty()) continue;
    for (const NodePtr& source : sources) waiting.push_back(source);
    const Node* const key = node.get();
    kept.emplace(key, Kept{std::move(node), std::move(sources)});
  }
}

Node::Sources Tape::sources(const Node& node) {
  Node::Sources pending = node.lazy_sources();
  if (!pending.empty() || outermost == nullptr) return pending;
  const auto found = outermost->kept_.find(&node);
  return found == outermost->kept_.end() ? pending : found->second.sources;
}

}  // namespace oriel::runtime
