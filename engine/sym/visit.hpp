// Walks over the nodes of expressions, and a table of nodes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "oriel/inline_vector.hpp"
#include "sym/node.hpp"

namespace oriel::sym {

/// A table from nodes to values. Up to 16 nodes are searched one by one, and take no heap memory. More nodes are found
/// by their numbers in an open hash table.
template <class Value>
class NodeTable {
 public:
  /// The value of `node`, which is added with `value` if it is new. The flag tells whether it is new. The pointer is
  /// valid until the next call.
  std::pair<Value*, bool> insert(Expr node, const Value& value) {
    if (Value* known = find(node)) return {known, false};
    entries_.push_back({node, value});
    if (entries_.size() > kFew) add_slot();
    return {&entries_.back().value, true};
  }
  /// The value of `node`, or null.
  /// @{
  const Value* find(Expr node) const noexcept {
    if (entries_.size() <= kFew) {
      for (const Entry& entry : entries_)
        if (entry.node == node) return &entry.value;
      return nullptr;
    }
    for (std::size_t at = slot_of(node);; at = (at + 1) & (slots_.size() - 1)) {
      if (slots_[at] == kFree) return nullptr;
      if (entries_[slots_[at]].node == node) return &entries_[slots_[at]].value;
    }
  }
  Value* find(Expr node) noexcept { return const_cast<Value*>(std::as_const(*this).find(node)); }
  /// @}
  std::size_t size() const noexcept { return entries_.size(); }
  /// The hash table's slots; 0 while the nodes are few. It is at most half full.
  std::size_t slots() const noexcept { return slots_.size(); }

 private:
  static constexpr std::size_t kFew = 16;
  static constexpr std::uint32_t kFree = UINT32_MAX;
  struct Entry {
    Expr node;
    Value value;
  };

  std::size_t slot_of(Expr node) const noexcept {
    return static_cast<std::size_t>(node->id * std::uint64_t{0x9e3779b97f4a7c15} >> 32) & (slots_.size() - 1);
  }
  void place(std::size_t entry) noexcept {
    std::size_t at = slot_of(entries_[entry].node);
    while (slots_[at] != kFree) at = (at + 1) & (slots_.size() - 1);
    slots_[at] = static_cast<std::uint32_t>(entry);
  }
  void add_slot() {
    if (entries_.size() * 2 <= slots_.size()) return place(entries_.size() - 1);
    slots_.assign(slots_.empty() ? 4 * kFew : 2 * slots_.size(), kFree);
    for (std::size_t k = 0; k < entries_.size(); ++k) place(k);
  }

  InlineVector<Entry, kFew> entries_;
  std::vector<std::uint32_t> slots_;
};

/// Calls `f(node)` once for each node of the expressions, arguments before the nodes that use them. No recursion.
template <class F>
void visit(std::span<const Expr> roots, const F& f) {
  struct Open {
    Expr node;
    std::size_t next;
  };
  struct Seen {};
  NodeTable<Seen> seen;
  InlineVector<Open, 16> stack;
  for (const Expr root : roots) {
    if (!seen.insert(root, {}).second) continue;
    stack.push_back({root, 0});
    while (!stack.empty()) {
      Open& top = stack.back();
      if (top.next < top.node->args.size()) {
        const Expr arg = top.node->args[top.next++];
        if (seen.insert(arg, {}).second) stack.push_back({arg, 0});
      } else {
        const Expr node = top.node;
        stack.pop_back();
        f(node);
      }
    }
  }
}
template <class F>
void visit(Expr root, const F& f) {
  visit(std::span<const Expr>(&root, 1), f);
}

}  // namespace oriel::sym
