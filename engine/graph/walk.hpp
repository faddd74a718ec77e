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

}  // namespace oriel::graph
