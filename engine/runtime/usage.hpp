// Who else holds the nodes of one piece of work, and so which buffers it may overwrite.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "graph/order.hpp"

namespace oriel::runtime {

class Usage {
 public:
  /// `order`: what the roots need, claimed, and the roots sealed. Others may let go of nodes meanwhile, which only
  /// makes the answer cautious, and so does what other work holds. It must outlive this. `ours`: references to buffers
  /// that are no reader's. `more`: nodes that count as roots too.
  void count(const graph::Order& order, std::span<const mem::BufferPtr> ours = {},
             std::span<const std::size_t> more = {});

  /// Is node i held from outside: by a tensor, or by work that is not below these roots?
  bool held(std::size_t i) const { return held_[i]; }
  bool root(std::size_t i) const { return root_[i]; }
  /// Who can read what a buffer holds now, once the roots are realised?
  enum class Readers : std::uint8_t {
    none,
    pending,    // values below the roots, which wait and are held
    elsewhere,  // anybody else, perhaps
  };
  Readers readers(const mem::Buffer* buffer) const;
  /// Held values below the roots that wait to read a leaf under a write. Only they keep the leaf from being
  /// overwritten, the roots need each of them whole, and together they are no larger than it: as roots themselves, they
  /// free it for no more memory or work than the write would take elsewhere.
  std::vector<std::size_t> early_readers() const;

 private:
  struct Holders {
    long known = 0;      // references to the buffer by these nodes
    bool held = false;   // from outside
    bool waits = false;  // a held value reads it
  };
  const graph::Order* order_ = nullptr;
  std::vector<bool> held_;
  std::vector<bool> root_;
  std::unordered_map<const mem::Buffer*, Holders> buffers_;
};

}  // namespace oriel::runtime
