// Who else holds the nodes of one piece of work, and so which buffers it may overwrite.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "graph/node.hpp"

namespace oriel::runtime {

class Usage {
 public:
  /// `nodes`: what the roots need, sources first, realised nodes without what once stood below them. Under the
  /// runtime's lock, which keeps others from realising; others may let go meanwhile, which only makes the answer
  /// cautious.
  void count(std::span<const graph::Node* const> nodes, std::span<const graph::NodePtr> roots);

  /// Is node i held from outside: by a tensor, or by work that is not below these roots?
  bool held(std::size_t i) const { return held_[i]; }
  bool root(std::size_t i) const { return root_[i]; }
  /// After the roots are realised, can nothing read what the buffer holds now?
  bool free(const memory::Buffer* buffer) const;

 private:
  struct Holders {
    long known = 0;  // references to the buffer by these nodes
    bool escapes = false;
  };
  std::vector<bool> held_;
  std::vector<bool> root_;
  std::unordered_map<const memory::Buffer*, Holders> buffers_;
};

}  // namespace oriel::runtime
