// The pending work below some nodes, numbered: what planning reads in place of the graph.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "graph/node.hpp"
#include "graph/walk.hpp"

namespace oriel::graph {

/// Every node that some roots need, each after its sources, each once: sources in order, roots in order. A node counts
/// as it was when it was met: one that was pending stays so here, with the sources that it had, even if another thread
/// realises it later.
///
/// The pending nodes are *claimed* for a piece of work (base/activity.hpp), which alone may realise them while it is
/// under way. What several pieces of work need at the same time they share: nodes in memory, numbers and positions,
/// and pending nodes below the roots, which whoever comes second looks at through copies of their sources. Only a node
/// that one of them is about to realise makes others wait: its sources are dropped, and what they hold may be
/// overwritten.
///
/// Kept from one piece of work to the next, so that nothing is allocated for small graphs.
class Order {
 public:
  /// Claims and numbers what the roots need, which are pending; they must be held by the caller, and nothing may have
  /// been claimed for this number by another Order. Returns 0; or, having claimed some nodes or none, what stands in
  /// the way: the number of other work, which has to end first, or kAgain where a root has been realised meanwhile.
  std::uint64_t build(std::span<const NodePtr> roots, std::uint64_t work);
  static constexpr std::uint64_t kAgain = 2;  // no number of any work: these are odd

  std::size_t size() const noexcept { return met_.size(); }
  const Node& operator[](std::size_t i) const noexcept { return *met_[i].node; }
  const Node& operator[](std::int32_t i) const noexcept { return *at(i).node; }
  /// Was it in memory when it was met? Then it is a leaf here.
  bool in_memory(std::size_t i) const noexcept { return met_[i].in_memory; }
  bool in_memory(std::int32_t i) const noexcept { return at(i).in_memory; }
  /// The sources of a node; none of one in memory.
  std::span<const std::int32_t> sources(std::size_t i) const noexcept {
    return {sources_.data() + met_[i].first_source, met_[i].sources};
  }
  std::span<const std::int32_t> sources(std::int32_t i) const noexcept { return sources(static_cast<std::size_t>(i)); }
  /// The sources of all nodes.
  std::span<const std::int32_t> all_sources() const noexcept { return sources_; }
  std::span<const std::int32_t> roots() const noexcept { return roots_; }
  /// A pending number, or positions: evaluated wherever it is read.
  bool movable(std::size_t i) const noexcept {
    return !met_[i].in_memory && (met_[i].node->op == Op::Const || met_[i].node->op == Op::Iota);
  }
  bool movable(std::int32_t i) const noexcept { return movable(static_cast<std::size_t>(i)); }

  /// Lets go of the nodes that it held. What it said of them is gone.
  void clear();

 private:
  struct Met {
    const Node* node;
    std::uint32_t first_source;  // in sources_
    std::uint16_t sources;
    bool in_memory;
    bool claimed;  // its number is in the node
  };
  static constexpr std::size_t kFew = 16;  // so many nodes are looked through for one that has no number of its own
  struct Pending {
    const Node* node;
    const NodePtr* sources;
    std::uint32_t count;
    std::uint32_t next;
    bool shared;
  };
  std::uint64_t claim(const Node& root, std::uint64_t work);
  /// Numbers the node and returns 0; or makes it the next to be visited; or what stands in the way.
  std::uint64_t meet(const Node* node, std::uint64_t work);
  std::uint64_t meet_shared(const Node* node, std::uint64_t owner);
  void add_leaf(const Node* node, bool in_memory);
  const Met& at(std::int32_t i) const noexcept { return met_[static_cast<std::size_t>(i)]; }
  void add(const Met& met);
  /// The number of a node that this work has not claimed, or -1.
  std::int32_t find_shared(const Node* node) const noexcept;

  std::vector<Met> met_;
  std::vector<std::int32_t> sources_;
  std::vector<std::int32_t> roots_;

  std::uint64_t work_ = 0;             // of the last build
  std::vector<const Node*> claimed_;   // in that build
  Numbering shared_;                   // nodes that are not claimed, once there are more than a few nodes
  std::vector<std::int32_t> numbers_;  // of those
  std::deque<Node::Sources> kept_;     // of the pending nodes that are shared
  std::vector<Pending> stack_;
  std::vector<std::int32_t> finished_;  // numbers of sources whose readers are on the stack
};

}  // namespace oriel::graph
