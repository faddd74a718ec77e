// What derivatives need of nodes that are realised while they are under way.
#pragma once

#include <atomic>
#include <span>
#include <unordered_map>

#include "graph/node.hpp"

namespace oriel::runtime {

/// While one lives, work of this thread keeps the sources of the nodes that it realises, so that a function may read
/// elements and its derivative still passes through them. Tapes nest; what was kept lasts until the outermost one ends.
class Tape {
 public:
  Tape();
  ~Tape();
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;

  /// Has this thread a tape? Where no thread has one, no thread-local variable is read.
  static bool current() noexcept { return under_way.load(std::memory_order_relaxed) != 0 && outermost != nullptr; }
  /// Before a realisation: keeps the sources of all pending nodes below, if this thread has a tape.
  static void keep(std::span<const graph::NodePtr> roots);
  /// The sources of a node, pending or kept; none if they are gone.
  static graph::Node::Sources sources(const graph::Node& node);

 private:
  struct Kept {
    graph::NodePtr node;
    graph::Node::Sources sources;
  };
  static std::atomic<int> under_way;  // in all threads
  static thread_local Tape* outermost;
  bool outer_;
  std::unordered_map<const graph::Node*, Kept> kept_;
};

/// While one lives, this thread runs a function on stand-ins that have no elements (vmap): nothing is realised to keep
/// graphs short.
class StandIns {
 public:
  StandIns() noexcept;
  ~StandIns();
  StandIns(const StandIns&) = delete;
  StandIns& operator=(const StandIns&) = delete;
  static bool current() noexcept { return under_way.load(std::memory_order_relaxed) != 0 && own != 0; }

 private:
  static std::atomic<int> under_way;  // in all threads
  static thread_local int own;
};

}  // namespace oriel::runtime
