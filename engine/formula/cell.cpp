#include "formula/cell.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "base/fork_lock.hpp"
#include "graph/movements.hpp"
#include "oriel/error.hpp"
#include "runtime/trace.hpp"
#include "view/stacks/injective.hpp"

namespace oriel::detail {

using base::SpinGuard;
using base::SpinSet;
using graph::Node;
using graph::NodePtr;

namespace {

// A chain of more views than this is replaced by one view of the storage, so that a loop that moves a tensor again and
// again does not build a long chain.
constexpr int kDeepest = 16;

}  // namespace

Cell::Cell(const Node& like, Storage* storage)
    : shape_(like.shape), dtype_(like.dtype), device_(like.device), storage_(storage) {}

void intrusive_ptr_add_ref(Cell* cell) noexcept { cell->references_.fetch_add(1, std::memory_order_relaxed); }
void intrusive_ptr_release(Cell* cell) noexcept {
  if (cell->references_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (ViewCell* const view = cell->view_cell(); view != nullptr)
    delete view;
  else
    delete cell->storage_;
}

CellPtr Cell::make_storage(NodePtr contents) { return CellPtr(new Storage(std::move(contents))); }

CellPtr Cell::make_view(CellPtr of, Path path, bool of_temporary) {
  Seen seen = of->look();
  NodePtr node = path(std::move(seen.node));
  auto* const view = new ViewCell(*node, std::move(of), std::move(path), of_temporary);
  CellPtr cell(view);
  {
    Storage& storage = *view->storage_;
    const SpinGuard lock(SpinSet::cells, &storage);
    if (storage.version_ == seen.version) view->keep(std::move(node));
  }
  if (view->depth_ > kDeepest) view->flatten();
  return cell;
}

NodePtr Cell::node() { return look().node; }

Cell::Seen Cell::look() {
  {
    const SpinGuard lock(SpinSet::cells, storage_);
    if (node_) return {node_, storage_->version_};
  }
  return static_cast<ViewCell*>(this)->look();  // a storage has a node
}

void Cell::check_traced(std::string_view operation) const {
  const std::uint64_t trace = runtime::Trace::current();
  if (trace == 0 || storage_->trace_ == trace || numel(storage_->shape_) == 0) return;
  throw ArgumentError(
      operation,
      fmt::format("a tensor, {} {} on {}, was not passed to the captured function that is being traced, such "
                  "as a global: its elements would be recorded once and go stale; pass it as an argument, or "
                  "bind it with oriel::bind(f, tensor)",
                  name(dtype_), to_string(shape_), device_.str()));
}

NodePtr Cell::write(const NodePtr& value, const graph::Origin& origin) {
  std::shared_ptr<const ShapeTracker> where;
  if (const ViewCell* const view = this->view_cell(); view != nullptr) {
    ShapeTracker map = view->map();
    const Distinctness verdict = distinctness(map);
    if (verdict.kind != Distinctness::Kind::Distinct) {
      throw ShapeError(
          origin.operation,
          fmt::format("{} of a tensor of {} cannot be written: {}; write a view that holds each element once",
                      to_string(shape_), to_string(storage_->shape_), verdict.str()));
    }
    where = std::make_shared<const ShapeTracker>(std::move(map));
  }
  while (true) {
    Seen old = storage_->look();
    NodePtr next = graph::assign(std::move(old.node), value, where, origin);
    if (storage_->replace(next, old.version)) return next;
  }
}

bool Cell::shows_writes() const noexcept {
  std::uint32_t known = 1;  // references to the cell that come from the expression itself
  for (const Cell* cell = this; cell->references_.load(std::memory_order_relaxed) <= known;) {
    if (cell == cell->storage_) return false;
    const auto* const view = static_cast<const ViewCell*>(cell);
    known = view->of_temporary_ ? 2 : 1;
    cell = view->parent_.get();
  }
  return true;
}

Storage::Storage(NodePtr contents) : Cell(*contents, this), trace_(runtime::Trace::current()) {
  node_ = std::move(contents);
}

bool Storage::replace(NodePtr contents, std::uint64_t version) {
  std::vector<NodePtr> dropped;  // released after the lock, because that may run a user's deleter
  const SpinGuard lock(SpinSet::cells, this);
  if (version_ != version) return false;
  std::size_t count = 0;
  for (const ViewCell* view = views_; view != nullptr; view = view->next_) ++count;
  dropped.reserve(count);
  for (ViewCell* view = views_; view != nullptr; view = view->next_) dropped.push_back(std::move(view->node_));
  views_ = nullptr;
  node_.swap(contents);
  ++version_;
  return true;
}

void Storage::set_contents(const NodePtr& contents) {
  for (std::uint64_t version = look().version; !replace(contents, version);) version = look().version;
}

void Storage::mark(SizeMark mark) {
  auto marks = std::make_shared<std::vector<SizeMark>>(this->marks());
  std::erase_if(*marks, [&](const SizeMark& other) { return other.axis == mark.axis; });
  marks->push_back(std::move(mark));
  std::shared_ptr<const std::vector<SizeMark>> made = std::move(marks);
  const SpinGuard lock(SpinSet::cells, this);
  marks_.swap(made);
}

std::vector<Storage::SizeMark> Storage::marks() const {
  std::shared_ptr<const std::vector<SizeMark>> marks;
  {
    const SpinGuard lock(SpinSet::cells, this);
    marks = marks_;
  }
  return marks ? *marks : std::vector<SizeMark>();
}

ViewCell::ViewCell(const Node& like, CellPtr parent, Path path, bool of_temporary)
    : Cell(like, parent->storage()), parent_(std::move(parent)), path_(std::move(path)), of_temporary_(of_temporary) {
  const ViewCell* const above = parent_->view_cell();
  depth_ = above != nullptr ? above->depth_ + 1 : 1;
}

ViewCell::~ViewCell() {
  const SpinGuard lock(SpinSet::cells, storage_);
  if (!node_) return;
  (previous_ != nullptr ? previous_->next_ : storage_->views_) = next_;
  if (next_ != nullptr) next_->previous_ = previous_;
}

void ViewCell::keep(NodePtr made) {
  node_ = std::move(made);
  previous_ = nullptr;
  next_ = storage_->views_;
  if (next_ != nullptr) next_->previous_ = this;
  storage_->views_ = this;
}

Cell::Seen ViewCell::look() {
  Seen above = parent_->look();
  NodePtr made = path_(std::move(above.node));
  const SpinGuard lock(SpinSet::cells, storage_);
  if (!node_ && storage_->version_ == above.version) keep(made);
  return {std::move(made), above.version};
}

NodePtr ViewCell::over(NodePtr storage) const {
  std::vector<const ViewCell*> views;
  for (const ViewCell* view = this; view != nullptr; view = view->parent_->view_cell()) views.push_back(view);
  for (std::size_t k = views.size(); k-- > 0;) storage = views[k]->path_(std::move(storage));
  return storage;
}

// The path is applied to a placeholder node, because the storage's own node may have dropped its sources.
ShapeTracker ViewCell::map() const {
  const NodePtr base = graph::iota(storage_->shape_);
  const NodePtr node = over(base);
  std::vector<const Node*> movements;
  for (const Node* n = node.get(); n != base.get(); n = n->sources[0].get()) movements.push_back(n);
  ShapeTracker map(storage_->shape_);
  for (std::size_t k = movements.size(); k-- > 0;) map = graph::moved(map, *movements[k]);
  return map.simplify();
}

void ViewCell::flatten() {
  const ShapeTracker map = this->map();
  path_ = [views = std::vector<View>(map.views().begin(), map.views().end())](NodePtr node) {
    for (const View& view : views) node = graph::raw_view(std::move(node), view);
    return node;
  };
  parent_ = CellPtr(storage_);
  depth_ = 1;
  of_temporary_ = false;
}

}  // namespace oriel::detail
