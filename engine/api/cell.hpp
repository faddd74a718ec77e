// A cell is what a Tensor names: a storage, whose elements change when it is written, or a place (a view) in a storage.
#pragma once

#include <atomic>
#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "graph/build.hpp"
#include "oriel/captured.hpp"
#include "oriel/view.hpp"

namespace oriel::detail {

class Cell;
using CellPtr = boost::intrusive_ptr<Cell>;
/// The movements that make a view from a tensor.
using Path = std::function<graph::NodePtr(graph::NodePtr)>;

/// Holds the node of the present elements. Nodes are immutable: a write replaces the storage's node by a new one. A
/// place's node is made from the storage's node by the place's path. It is dropped when the storage is written, so that
/// no stale view keeps old elements alive. Shape, dtype and device never change. Thread-safe, by a spin lock for each
/// storage: a read during a write sees either the old elements or the new ones.
class Cell {
 public:
  /// Makes a storage with these elements.
  static CellPtr storage(graph::NodePtr contents);
  /// Makes a place: the view path(of).
  static CellPtr place(CellPtr of, Path path);

  const Shape& shape() const noexcept { return shape_; }
  DType dtype() const noexcept { return dtype_; }
  Device device() const noexcept { return device_; }

  graph::NodePtr node();
  /// The storage; itself where this is one.
  Cell* storage() noexcept { return root_; }
  /// Of a place: the cell of which it is a view, and the movements from there. A storage has none.
  const CellPtr& parent() const noexcept { return parent_; }
  const Path& path() const noexcept { return path_; }
  /// Puts other contents of the same shape, dtype and device into a storage.
  void set_contents(graph::NodePtr contents);
  /// What was stated of a size (oriel/captured.hpp).
  struct SizeMark {
    enum class Kind : std::uint8_t { fixed, dynamic, unbacked };
    std::size_t axis = 0;
    Kind kind = Kind::dynamic;
    DynamicSize size = {};
    Site site = Site::unknown();
  };
  /// Of a storage. A mark replaces an earlier one of the same axis.
  void mark(SizeMark mark);
  std::vector<SizeMark> marks() const;
  /// Throws ArgumentError where this thread traces a captured function that this cell does not belong to: it was not
  /// passed. A storage without elements belongs to all.
  void check_traced(std::string_view operation) const;
  /// Writes `value`, of this cell's shape and dtype, into the storage. Returns the storage's new node. Throws
  /// ShapeError if two indices of this place stand for one element, or if it cannot be shown that none do.
  graph::NodePtr write(const graph::NodePtr& value, const graph::Origin& origin);

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
  void keep(graph::NodePtr made);  // precondition: the storage's lock is held, and this is a place without a node
  void unlink() noexcept;          // precondition: the storage's lock is held
  /// The view of this place over the storage's row-major elements.
  ShapeTracker map() const;
  void flatten();

  std::atomic<std::uint32_t> references_{0};
  const Shape shape_;
  const DType dtype_;
  const Device device_;
  CellPtr parent_;             // of a place: the cell of which it is a view
  Cell* root_;                 // the storage; a storage points to itself
  Path path_;                  // the movements from the parent
  int depth_ = 0;              // places between this one and the storage
  const std::uint64_t trace_;  // of a storage: the trace (runtime/trace.hpp) that made it, or 0

  // Guarded by the storage's spin lock.
  graph::NodePtr node_;        // null in a place whose node has not been made yet
  std::uint64_t version_ = 0;  // of a storage: the number of writes
  Cell* places_ = nullptr;     // of a storage: list of its places that have a node, linked by next_ and previous_
  Cell* next_ = nullptr;
  Cell* previous_ = nullptr;
  std::shared_ptr<const std::vector<SizeMark>> marks_;  // of a storage; null for none
};

}  // namespace oriel::detail
