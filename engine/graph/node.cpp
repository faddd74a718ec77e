#include "graph/node.hpp"

#include <boost/container/small_vector.hpp>
#include <utility>

#include "base/fork_lock.hpp"

namespace oriel::graph {

using base::SpinGuard;
using base::SpinSet;

void Node::set_realized(mem::BufferPtr realised) const {
  boost::container::small_vector<NodePtr, 3> dropped;  // released after the flag is clear
  buffer = std::move(realised);
  version = buffer->version();
  has_buffer.store(true, std::memory_order_release);
  const SpinGuard guard(SpinSet::nodes, this);
  dropped.swap(sources);
}

boost::container::small_vector<NodePtr, 3> Node::lazy_sources() const {
  const SpinGuard guard(SpinSet::nodes, this);
  if (claimed) return {};
  return sources;
}

void Node::claim(bool on) const {
  const SpinGuard guard(SpinSet::nodes, this);
  claimed = on;
}

void intrusive_ptr_add_ref(const Node* node) noexcept { node->references.fetch_add(1, std::memory_order_relaxed); }

void intrusive_ptr_release(const Node* node) noexcept {
  if (node->references.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  // Dead nodes wait in a list threaded through `hash`, which nobody reads any more: no stack, no allocation.
  auto waiting = reinterpret_cast<std::uintptr_t>(node);
  const_cast<Node*>(node)->hash = 0;
  while (waiting != 0) {
    Node* dead = reinterpret_cast<Node*>(waiting);
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
