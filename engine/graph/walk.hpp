// Walks over pending work. Iterative: a chain of a million nodes is an ordinary input.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graph/node.hpp"

namespace oriel::graph {

/// Numbers things, told apart by address, in the order they come. Open addressing: no allocation for each.
class Numbering {
 public:
  Numbering() : slots_(64) {}
  /// The number of `thing`, or -1.
  std::int32_t find(const void* thing) const noexcept { return slots_[locate(thing)].number; }
  /// Gives the next number to a thing that has none; returns whether it was new.
  bool insert(const void* thing);
  std::size_t size() const noexcept { return size_; }

 private:
  struct Slot {
    const void* thing = nullptr;
    std::int32_t number = -1;
  };
  std::size_t locate(const void* thing) const noexcept;

  std::vector<Slot> slots_;  // a power of two, at most half full
  std::size_t size_ = 0;
};

/// Nodes that `roots` need, each after its sources, each once; sources in order, roots in order. Realised nodes and
/// leaves come without what once stood below them. Only while no other thread realises any of
/// them (else graph/order.hpp).
std::vector<const Node*> post_order(std::span<const NodePtr> roots);

/// `map` through one more movement on top.
ShapeTracker moved(const ShapeTracker& map, const Node& movement);

}  // namespace oriel::graph
