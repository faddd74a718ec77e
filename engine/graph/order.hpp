// The pending work below some nodes, numbered. Planning reads this instead of the graph.
#pragma once

#include <concepts>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "graph/node.hpp"
#include "graph/walk.hpp"

namespace oriel::graph {

/// A node as an Order met it.
struct Met {
  const Node* node;
  std::uint32_t first_source;  // index into the Order's list of sources
  std::uint16_t sources;
  bool in_memory;
  bool claimed;  // the node holds its own number
};

/// The nodes of an Order by number, and the numbers of those which hold none themselves.
class MetNodes {
 public:
  std::size_t size() const noexcept { return met_.size(); }
  template <std::integral Number>
  const Met& operator[](Number i) const noexcept {
    return met_[static_cast<std::size_t>(i)];
  }
  void add(const Met& met);
  /// The number of a node that is not claimed, or -1.
  std::int32_t find_shared(const Node* node) const noexcept;
  void clear();

 private:
  static constexpr std::size_t kFew = 16;  // among this many nodes a number is found by looking at each

  std::vector<Met> met_;
  Numbering shared_;                   // nodes that are not claimed; used once there are more than kFew nodes
  std::vector<std::int32_t> numbers_;  // the numbers of those nodes
};

/// Every node that some roots need, once, after its sources; sources and roots in their order. A node keeps the state
/// in which it was met: a pending node stays pending here, with the sources that it had, even if another thread
/// realises it later.
///
/// Pending nodes are *claimed* for a piece of work (base/activity.hpp). Only this work may realise them while it is
/// under way. Several pieces of work share what they need at the same time: nodes in memory, numbers and positions, and
/// pending nodes below the roots, which the second comer reads through copies of their sources. Other work has to wait
/// only for a node that is about to be realised, because its sources are dropped and their memory may be overwritten.
///
/// Reused for later work, so that small graphs allocate nothing.
class Order {
 public:
  /// Claims and numbers what the roots need. The roots are pending and held by the caller, and no other Order may have
  /// claimed nodes for this work. Returns 0 on success. Otherwise it may have claimed some nodes, and returns the
  /// number of the work that must end first, or kAgain if a root has been realised meanwhile.
  std::uint64_t build(std::span<const NodePtr> roots, std::uint64_t work);
  static constexpr std::uint64_t kAgain = 2;  // not a number of work: these are odd

  // Nodes are named by their numbers, which are indices or, in lists of sources and roots, int32.
  std::size_t size() const noexcept { return met_.size(); }
  template <std::integral Number>
  const Node& operator[](Number i) const noexcept {
    return *met_[i].node;
  }
  /// Was the node in memory when it was met? Then it is a leaf here.
  template <std::integral Number>
  bool in_memory(Number i) const noexcept {
    return met_[i].in_memory;
  }
  /// The sources of a node; none if the node is in memory.
  template <std::integral Number>
  std::span<const std::int32_t> sources(Number i) const noexcept {
    return {sources_.data() + met_[i].first_source, met_[i].sources};
  }
  /// The sources of all nodes.
  std::span<const std::int32_t> all_sources() const noexcept { return sources_; }
  std::span<const std::int32_t> roots() const noexcept { return roots_; }
  /// Is it a pending number, or positions? These are evaluated wherever they are read.
  template <std::integral Number>
  bool movable(Number i) const noexcept {
    return !met_[i].in_memory && (met_[i].node->op == Op::Const || met_[i].node->op == Op::Iota);
  }

  /// Releases all nodes. Everything known about them is gone.
  void clear();

 private:
  struct Pending {
    const Node* node;
    const NodePtr* sources;
    std::uint32_t count;
    std::uint32_t next;
    bool shared;
  };
  std::uint64_t claim(const Node& root, std::uint64_t work);
  /// Numbers the node and returns 0, or makes it the next to be visited and returns 0, or returns the work that stands
  /// in the way.
  std::uint64_t meet(const Node* node, std::uint64_t work);
  std::uint64_t meet_shared(const Node* node, std::uint64_t owner);
  void add_leaf(const Node* node, bool in_memory);

  MetNodes met_;
  std::vector<std::int32_t> sources_;
  std::vector<std::int32_t> roots_;

  std::uint64_t work_ = 0;            // the work of the last build
  std::vector<const Node*> claimed_;  // nodes claimed in that build
  std::deque<Node::Sources> kept_;    // copied sources of shared pending nodes
  std::vector<Pending> stack_;
  std::vector<std::int32_t> finished_;  // numbers of finished sources whose readers are still on the stack
};

}  // namespace oriel::graph
