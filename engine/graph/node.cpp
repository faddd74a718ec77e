#include "graph/node.hpp"

#include <utility>

#include "base/fork_lock.hpp"

namespace oriel::graph {

using base::SpinGuard;
using base::SpinSet;

void Node::set_realized(mem::BufferPtr realised, std::vector<NodePtr>& dropped) const {
  Sources own;
  buffer = std::move(realised);
  version = buffer->version();
  has_buffer.store(true, std::memory_order_release);
  {
    const SpinGuard guard(SpinSet::nodes, this);
    own.swap(sources);
  }
  for (NodePtr& source : own) dropped.push_back(std::move(source));
  if (const auto* tag = std::get_if<TagPtr>(&arg)) (*tag)->release(dropped);
}

Node::Sources Node::lazy_sources() const {
  const SpinGuard guard(SpinSet::nodes, this);
  if (sealed) return {};
  return sources;
}

Node::Sources Node::sources_to_look_at() const {
  const SpinGuard guard(SpinSet::nodes, this);
  return sources;
}

bool Node::sources_to_share(Sources& out) const {
  const SpinGuard guard(SpinSet::nodes, this);
  if (!sealed) out = sources;
  return !sealed;
}

void Node::seal(bool on) const {
  const SpinGuard guard(SpinSet::nodes, this);
  sealed = on;
}

void intrusive_ptr_add_ref(const Node* node) noexcept { node->references.fetch_add(1, std::memory_order_relaxed); }

void intrusive_ptr_release(const Node* node) noexcept {
  if (node->references.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  // Dead nodes wait in a list linked through `hash`, which nobody reads any more. This needs neither stack nor
  // allocation.
  auto waiting = reinterpret_cast<std::uintptr_t>(node);
  const_cast<Node*>(node)->hash = 0;
  while (waiting != 0) {
    Node* dead = reinterpret_cast<Node*>(waiting);  // NOLINT(performance-no-int-to-ptr)
    waiting = static_cast<std::uintptr_t>(dead->hash);
    for (NodePtr& source : dead->sources) {
      Node* s = const_cast<Node*>(source.detach());
      if (s->references.fetch_sub(1, std::memory_order_acq_rel) != 1) continue;
      s->hash = waiting;
      waiting = reinterpret_cast<std::uintptr_t>(s);
    }
    delete dead;
  }
}

}  // namespace oriel::graph
