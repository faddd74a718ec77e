#include "graph/walk.hpp"

#include <utility>

namespace oriel::graph {

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

}  // namespace oriel::graph
