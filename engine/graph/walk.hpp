// Walks over pending work. They are iterative, because a chain of a million nodes is an ordinary input.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graph/node.hpp"

namespace oriel::graph {

/// Numbers things, identified by their addresses, in order of appearance. Open addressing: no allocation for each
/// thing.
class Numbering {
 public:
  Numbering() : slots_(64) {}
  /// The number of `thing`, or -1.
  std::int32_t find(const void* thing) const noexcept { return slots_[locate(thing)].number; }
  /// Gives a thing the next number if it has none. Returns whether it was new.
  bool insert(const void* thing);
  std::size_t size() const noexcept { return size_; }

 private:
  struct Slot {
    const void* thing = nullptr;
    std::int32_t number = -1;
  };
  std::size_t locate(const void* thing) const noexcept;

  std::vector<Slot> slots_;  // the size is a power of two; at most half are used
  std::size_t size_ = 0;
};

/// The nodes that `roots` need, each once and after its sources; sources and roots in their order. Realised nodes and
/// leaves have nothing below them. No other thread may realise any of them meanwhile (otherwise use graph/order.hpp).
std::vector<const Node*> post_order(std::span<const NodePtr> roots);

/// Bytes of the distinct buffers below a node and its pending work.
struct HeldBytes {
  std::int64_t all = 0;
  std::int64_t alone = 0;    // in buffers that nothing outside this work refers to, and that realising would free
  std::int64_t visited = 0;  // nodes
};
HeldBytes count_held_bytes(const NodePtr& node);

/// Does the work below `node` alone keep more than `limit` bytes alive? A limit of 0 means that there is none.
///
/// A count visits all of the work, so it must be rare. The sum over the sources (Node::held_bytes) is an upper bound;
/// below the limit nothing is counted. After a count that found too little, the next count comes when as many nodes
/// were checked as that count visited. So each node costs two visits in all, however long the work grows. It also comes
/// when buffers of a quarter of the limit were made since then. So the work exceeds the limit by at most a quarter,
/// because memory can only grow by new buffers.
///
/// Thread safety: any thread.
bool holds_more_than(const NodePtr& node, std::int64_t limit);

/// The number of nodes that all counts of this process have visited, for tests.
std::int64_t held_bytes_visits() noexcept;

}  // namespace oriel::graph
