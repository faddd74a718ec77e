#include "graph/walk.hpp"

#include <atomic>
#include <utility>
#include <vector>

namespace oriel::graph {

namespace {

std::atomic<std::int64_t> checks{0};  // of nodes whose upper bound exceeds the limit
std::atomic<std::int64_t> visits{0};

/// The nodes of a piece of work, with references, and how many of its nodes use each. The references are needed because
/// another thread may realise a node meanwhile, which drops its sources.
struct Work {
  std::vector<NodePtr> nodes;
  std::vector<std::uint32_t> uses;
};

Work walk(const NodePtr& node) {
  Work work{{node}, {0}};
  Numbering seen;
  seen.insert(node.get());
  for (std::size_t k = 0; k < work.nodes.size(); ++k) {
    if (work.nodes[k]->realized()) continue;
    auto sources = work.nodes[k]->lazy_sources();
    for (NodePtr& source : sources) {
      const Node* s = source.get();
      if (seen.insert(s)) {
        work.nodes.push_back(std::move(source));
        work.uses.push_back(0);
      }
      ++work.uses[static_cast<std::size_t>(seen.find(s))];
    }
  }
  return work;
}

HeldBytes count(const Work& work) {
  HeldBytes bytes;
  bytes.visited = static_cast<std::int64_t>(work.nodes.size());
  Numbering buffers;
  for (std::size_t k = 0; k < work.nodes.size(); ++k) {
    const Node& node = *work.nodes[k];
    if (!node.realized() || !buffers.insert(node.buffer.get())) continue;
    const auto size = static_cast<std::int64_t>(node.buffer->bytes());
    bytes.all += size;
    const std::uint32_t references = node.references.load(std::memory_order_relaxed);
    if (references <= work.uses[k] + 1) bytes.alone += size;  // 1: the reference that this walk holds
  }
  return bytes;
}

}  // namespace

std::size_t Numbering::locate(const void* thing) const noexcept {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at =
      static_cast<std::size_t>(reinterpret_cast<std::uintptr_t>(thing) * 0x9e3779b97f4a7c15ULL >> 32) & mask;
  while (slots_[at].thing != nullptr && slots_[at].thing != thing) at = (at + 1) & mask;
  return at;
}

bool Numbering::insert(const void* thing) {
  std::size_t at = locate(thing);
  if (slots_[at].thing != nullptr) return false;
  if (2 * (size_ + 1) > slots_.size()) {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.thing != nullptr) slots_[locate(slot.thing)] = slot;
    }
    at = locate(thing);
  }
  slots_[at] = {thing, static_cast<std::int32_t>(size_++)};
  return true;
}

std::vector<const Node*> post_order(std::span<const NodePtr> roots) {
  struct OpenNode {
    const Node* node;
    std::size_t next;
  };
  std::vector<const Node*> out;
  std::vector<OpenNode> stack;
  Numbering seen;
  for (const NodePtr& root : roots) {
    if (seen.insert(root.get())) stack.push_back({root.get(), 0});
    while (!stack.empty()) {
      OpenNode& top = stack.back();
      if (top.node->realized() || top.next == top.node->sources.size()) {
        out.push_back(top.node);
        stack.pop_back();
        continue;
      }
      const Node* source = top.node->sources[top.next++].get();
      if (seen.insert(source)) stack.push_back({source, 0});
    }
  }
  return out;
}

HeldBytes count_held_bytes(const NodePtr& node) { return count(walk(node)); }

bool holds_more_than(const NodePtr& node, std::int64_t limit) {
  if (limit == 0 || node->held_bytes.load(std::memory_order_relaxed) <= limit) return false;
  const std::int64_t check = checks.fetch_add(1, std::memory_order_relaxed) + 1;
  const std::int64_t made = mem::bytes_made();
  if (check < node->recount_at_check.load(std::memory_order_relaxed) &&
      made < node->recount_at_bytes.load(std::memory_order_relaxed))
    return false;
  const Work work = walk(node);
  const HeldBytes held = count(work);
  visits.fetch_add(held.visited, std::memory_order_relaxed);
  if (held.alone > limit) return true;
  // No part of the work keeps more alive than the whole work. So nodes built on a part need not be counted earlier
  // either.
  for (const NodePtr& n : work.nodes) {
    if (n->realized()) continue;
    if (n->held_bytes.load(std::memory_order_relaxed) > held.all)
      n->held_bytes.store(held.all, std::memory_order_relaxed);
    n->recount_at_check.store(check + held.visited, std::memory_order_relaxed);
    n->recount_at_bytes.store(made + limit / 4 + 1, std::memory_order_relaxed);
  }
  return false;
}

std::int64_t held_bytes_visits() noexcept { return visits.load(std::memory_order_relaxed); }

}  // namespace oriel::graph
