// A cell is what a Tensor names: a storage, whose elements change when it is written, or a view of a storage.
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

class Storage;
class ViewCell;

/// Holds the node of the present elements. Nodes are immutable: a write replaces the storage's node by a new one. A
/// view's node is made from the storage's node by the view's path. It is dropped when the storage is written, so that
/// no stale view keeps old elements alive. Shape, dtype and device never change. Thread-safe, by a spin lock for each
/// storage: a read during a write sees either the old elements or the new ones.
class Cell {
 public:
  /// Makes a storage with these elements.
  static CellPtr make_storage(graph::NodePtr contents);
  /// Makes the view path(of). `of_temporary`: a value of an expression names `of` until the expression ends.
  static CellPtr make_view(CellPtr of, Path path, bool of_temporary = false);

  const Shape& shape() const noexcept { return shape_; }
  DType dtype() const noexcept { return dtype_; }
  Device device() const noexcept { return device_; }

  graph::NodePtr node();
  /// The storage; itself where this is one.
  Storage* storage() noexcept { return storage_; }
  /// This cell as a view; null if it is a storage.
  ViewCell* view_cell() noexcept;
  /// Throws ArgumentError where this thread traces a captured function that this cell does not belong to: it was not
  /// passed. A storage without elements belongs to all.
  void check_traced(std::string_view operation) const;
  /// Writes `value`, of this cell's shape and dtype, into the storage. Returns the storage's new node. Throws
  /// ShapeError if two indices of this view stand for one element, or if it cannot be shown that none do.
  graph::NodePtr write(const graph::NodePtr& value, const graph::Origin& origin);
  /// This cell is named by one value of an expression. Would a write to it show anywhere else: does anything more name
  /// the storage, directly or as a view?
  bool shows_writes() const noexcept;

  friend void intrusive_ptr_add_ref(Cell* cell) noexcept;
  friend void intrusive_ptr_release(Cell* cell) noexcept;

 protected:
  Cell(const graph::Node& like, Storage* storage);
  ~Cell() = default;
  /// A node, and how often the storage had been written when it was made.
  struct Seen {
    graph::NodePtr node;
    std::uint64_t version;
  };
  Seen look();

 private:
  friend class Storage;
  friend class ViewCell;

  std::atomic<std::uint32_t> references_{0};
  const Shape shape_;
  const DType dtype_;
  const Device device_;
  Storage* const storage_;
  graph::NodePtr node_;  // guarded by the storage's spin lock; null in a view whose node has not been made yet
};

/// A cell that holds elements.
class Storage : public Cell {
 public:
  /// What was stated of a size (oriel/captured.hpp).
  struct SizeMark {
    enum class Kind : std::uint8_t { fixed, dynamic, unbacked };
    std::size_t axis = 0;
    Kind kind = Kind::dynamic;
    DynamicSize size = {};
    Site site = Site::unknown();
  };

  explicit Storage(graph::NodePtr contents);
  /// Puts other contents of the same shape, dtype and device in here.
  void set_contents(const graph::NodePtr& contents);
  /// Keeps a mark in place of an earlier one of the same axis.
  void mark(SizeMark mark);
  std::vector<SizeMark> marks() const;

 private:
  friend class Cell;
  friend class ViewCell;
  bool replace(graph::NodePtr contents, std::uint64_t version);

  const std::uint64_t trace_;  // the trace (runtime/trace.hpp) that made it, or 0

  // Guarded by the spin lock.
  std::uint64_t version_ = 0;  // the number of writes
  ViewCell* views_ = nullptr;  // list of its views that have a node, linked by next_ and previous_
  std::shared_ptr<const std::vector<SizeMark>> marks_;  // null for none
};

/// A cell that is a view of another one.
class ViewCell : public Cell {
 public:
  /// `like` is a node with this view's shape, dtype and device.
  ViewCell(const graph::Node& like, CellPtr parent, Path path, bool of_temporary);
  ~ViewCell();
  /// The cell of which this is a view, and the movements from there.
  const CellPtr& parent() const noexcept { return parent_; }
  const Path& path() const noexcept { return path_; }
  /// This view of a node that stands for the storage.
  graph::NodePtr over(graph::NodePtr storage) const;

 private:
  friend class Cell;
  friend class Storage;
  Seen look();
  void keep(graph::NodePtr made);  // precondition: the storage's lock is held, and there is no node yet
  /// The index map of this view over the storage's row-major elements.
  ShapeTracker map() const;
  void flatten();

  CellPtr parent_;
  Path path_;
  int depth_;          // views between this one and the storage, this one included
  bool of_temporary_;  // the value of an expression that named the parent may still do so

  // Of the storage's list; guarded by its spin lock.
  ViewCell* next_ = nullptr;
  ViewCell* previous_ = nullptr;
};

inline ViewCell* Cell::view_cell() noexcept { return storage_ == this ? nullptr : static_cast<ViewCell*>(this); }

}  // namespace oriel::detail
