// Finds out who else holds the nodes of one piece of work, and so which buffers the work may overwrite.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "graph/order.hpp"

namespace oriel::runtime {

/// Does a movement read only some elements of its source, as far as its op says?
inline bool reads_part(graph::Op op) {
  const graph::Elements elements = graph::row(op).elements;
  return graph::is_movement(op) && (elements == graph::Elements::Some || elements == graph::Elements::Any);
}

class Usage {
 public:
  /// `order`: everything the roots need, claimed, with the roots sealed. It must outlive this object. `ours`:
  /// references to buffers that do not count as readers. `more`: nodes that count as additional roots. Other threads
  /// may release nodes meanwhile, and other work may hold them; both only make the answer more cautious.
  void count(const graph::Order& order, std::span<const mem::BufferPtr> ours = {},
             std::span<const std::size_t> more = {});
  /// The same for nodes alone: then held, root and waits have answers, and the others none.
  void count_nodes(const graph::Order& order, std::span<const std::size_t> more = {});

  /// Is node i held from outside: by a tensor, or by work that is not below these roots?
  bool held(std::size_t i) const { return held_[i]; }
  bool root(std::size_t i) const { return root_[i]; }
  /// Can somebody still ask for node i after the roots are realised, or for a value that is computed from it?
  bool waits(std::size_t i) const { return waits_[i]; }
  /// Who can still read the present elements of a buffer after the roots are realised?
  enum class Readers : std::uint8_t {
    none,
    pending,    // only pending values below the roots that somebody holds
    elsewhere,  // possibly anybody else
  };
  Readers readers(const mem::Buffer* buffer) const;
  /// Held values below the roots that still have to read a leaf that will be overwritten. They are returned only if
  /// they alone keep the leaf from being overwritten, the roots need each of them whole, and together they are no
  /// larger than the leaf. Realising them as roots then frees the leaf, and costs no more memory or work than writing
  /// elsewhere.
  std::vector<std::size_t> early_readers() const;

 private:
  struct Holders {
    long known = 0;      // references to the buffer by nodes of this work
    bool held = false;   // held by somebody else
    bool waits = false;  // a held value still has to read it
  };
  const graph::Order* order_ = nullptr;
  std::vector<bool> held_;
  std::vector<bool> root_;
  std::vector<bool> waits_;
  std::vector<std::uint32_t> uses_;  // edges to each node
  std::unordered_map<const mem::Buffer*, Holders> buffers_;
};

}  // namespace oriel::runtime
