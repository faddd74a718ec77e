#include "graph/order.hpp"

#include <utility>

#include "base/activity.hpp"

namespace oriel::graph {

using base::Activity;

void Order::clear() {
  met_.clear();
  claimed_.clear();
  if (!kept_.empty()) kept_.clear();
  work_ = 0;
}

void MetNodes::clear() {
  met_.clear();
  if (numbers_.empty()) return;
  shared_ = Numbering();
  numbers_.clear();
}

void MetNodes::add(const Met& met) {
  const std::size_t number = met_.size();
  met_.push_back(met);
  if (number < kFew) return;
  const auto put = [&](std::size_t i) {
    if (met_[i].claimed) return;
    shared_.insert(met_[i].node);
    numbers_.push_back(static_cast<std::int32_t>(i));
  };
  if (number == kFew)
    for (std::size_t i = 0; i < number; ++i) put(i);
  put(number);
}

std::int32_t MetNodes::find_shared(const Node* node) const noexcept {
  if (met_.size() > kFew) {
    const std::int32_t place = shared_.find(node);
    return place < 0 ? -1 : numbers_[static_cast<std::size_t>(place)];
  }
  for (std::size_t i = 0; i < met_.size(); ++i)
    if (met_[i].node == node) return static_cast<std::int32_t>(i);
  return -1;
}

std::uint64_t Order::claim(const Node& root, std::uint64_t work) {
  std::uint64_t owner = root.claim.load(std::memory_order_acquire);
  if (owner == work) return 0;
  while (!Activity::under_way(owner)) {
    if (!root.claim.compare_exchange_weak(owner, work, std::memory_order_acq_rel, std::memory_order_acquire)) continue;
    if (root.realized()) return kAgain;
    root.number = -1;
    claimed_.push_back(&root);
    return 0;
  }
  return owner;
}

std::uint64_t Order::build(std::span<const NodePtr> roots, std::uint64_t work) {
  if (work_ == work) {
    for (const Node* node : claimed_) node->number = -1;
  } else {
    claimed_.clear();
    work_ = work;
  }
  met_.clear();
  sources_.clear();
  roots_.clear();
  stack_.clear();
  finished_.clear();
  // References kept for an earlier build may be all that keeps a claimed node alive, so they stay until clear().
  for (const NodePtr& root : roots)
    if (const std::uint64_t other = claim(*root, work); other != 0) return other;
  for (const NodePtr& root : roots) {
    if (const std::uint64_t other = meet(root.get(), work); other != 0) return other;
    while (!stack_.empty()) {
      Pending& top = stack_.back();
      if (top.next < top.count) {
        const Node* const source = top.sources[top.next++].get();
        if (const std::uint64_t other = meet(source, work); other != 0) return other;
        continue;
      }
      const Pending done = top;
      stack_.pop_back();
      const auto number = static_cast<std::int32_t>(met_.size());
      const std::size_t own = finished_.size() - done.count;
      met_.add({done.node, static_cast<std::uint32_t>(sources_.size()), static_cast<std::uint16_t>(done.count), false,
                !done.shared});
      for (std::size_t k = own; k < finished_.size(); ++k) sources_.push_back(finished_[k]);
      finished_.resize(own);
      finished_.push_back(number);
      if (!done.shared) done.node->number = number;
    }
    roots_.push_back(finished_.back());
    finished_.pop_back();
  }
  return 0;
}

std::uint64_t Order::meet(const Node* node, std::uint64_t work) {
  std::uint64_t owner = node->claim.load(std::memory_order_acquire);
  if (owner != work || node->realized()) {
    if (const std::int32_t number = met_.find_shared(node); number >= 0) {
      finished_.push_back(number);
      return 0;
    }
    const bool in_memory = node->realized();
    if (in_memory || node->op == Op::Const || node->op == Op::Iota) {
      add_leaf(node, in_memory);
      return 0;
    }
    while (owner != work) {
      if (Activity::under_way(owner)) return meet_shared(node, owner);
      if (!node->claim.compare_exchange_weak(owner, work, std::memory_order_acq_rel, std::memory_order_acquire))
        continue;
      owner = work;
      node->number = -1;
      claimed_.push_back(node);
      if (node->realized()) {  // by the work that had claimed it before
        add_leaf(node, true);
        return 0;
      }
    }
  }
  if (node->number >= 0) {
    finished_.push_back(node->number);
  } else {
    stack_.push_back({node, node->sources.data(), static_cast<std::uint32_t>(node->sources.size()), 0, false});
  }
  return 0;
}

void Order::add_leaf(const Node* node, bool in_memory) {
  finished_.push_back(static_cast<std::int32_t>(met_.size()));
  met_.add({node, static_cast<std::uint32_t>(sources_.size()), 0, in_memory, false});
}

std::uint64_t Order::meet_shared(const Node* node, std::uint64_t owner) {
  Node::Sources& sources = kept_.emplace_back();
  if (!node->sources_to_share(sources)) return owner;  // sealed: about to be realised
  if (node->realized()) {
    kept_.pop_back();
    add_leaf(node, true);
    return 0;
  }
  stack_.push_back({node, sources.data(), static_cast<std::uint32_t>(sources.size()), 0, true});
  return 0;
}

}  // namespace oriel::graph
