// What a Tensor names: a storage, whose elements change when it is written, or a place in one.
#pragma once

#include <atomic>
#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <cstdint>
#include <functional>
#include <memory>

#include "graph/build.hpp"
#include "oriel/view.hpp"

namespace oriel::detail {

class Cell;
using CellPtr = boost::intrusive_ptr<Cell>;
/// The movements that lead from a tensor to a view of it.
using Path = std::function<graph::NodePtr(graph::NodePtr)>;

/// The node that says what the elements are as of now; the graph itself never changes. A storage's node is replaced by
/// each write; a place's is made from the storage's by its path, and dropped when that is replaced, so that no stale
/// reader keeps old elements alive. Shape, dtype and device stay. Thread-safe, a spin lock for each storage; who writes
/// while others read gets either the old elements or the new ones.
class Cell {
 public:
  /// A storage with these elements.
  static CellPtr storage(graph::NodePtr contents);
  /// The elements at path(of).
  static CellPtr place(CellPtr of, Path path);

  const Shape& shape() const noexcept { return shape_; }
  DType dtype() const noexcept { return dtype_; }
  Device device() const noexcept { return device_; }

  graph::NodePtr node();
  /// Puts `value`, of this shape and dtype, into the storage. Returns its new node. Throws ShapeError where the path
  /// meets an element twice, or cannot be shown not to.
  graph::NodePtr write(graph::NodePtr value, const graph::Origin& origin);

  friend void intrusive_ptr_add_ref(Cell* cell) noexcept;
  friend void intrusive_ptr_release(Cell* cell) noexcept;

 private:
  Cell(const graph::Node& like, CellPtr parent, Path path);
  ~Cell();
  struct Seen {
    graph::NodePtr node;
    std::uint64_t version;
  };
  Seen look();
  bool replace(graph::NodePtr contents, std::uint64_t version);
  void keep(graph::NodePtr made);  // under the storage's lock; in a place without a node
  void unlink() noexcept;          // under the storage's lock
  /// Where this place lies among the storage's row-major elements.
  ShapeTracker map() const;
  void flatten();

  std::atomic<std::uint32_t> references_{0};
  const Shape shape_;
  const DType dtype_;
  const Device device_;
  CellPtr parent_;  // of a place
  Cell* root_;      // the storage; itself for one
  Path path_;       // from the parent
  int depth_ = 0;   // places between this one and the storage

  // Guarded by the storage's spin lock.
  graph::NodePtr node_;        // null in a place: to be made
  std::uint64_t version_ = 0;  // of a storage: how often it was written
  Cell* places_ = nullptr;     // of a storage: its places that have a node, a list through next_ and previous_
  Cell* next_ = nullptr;
  Cell* previous_ = nullptr;
};

}  // namespace oriel::detail
