#include "api/cell.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "base/fork_lock.hpp"
#include "graph/walk.hpp"
#include "oriel/error.hpp"
#include "runtime/trace.hpp"
#include "view/injective.hpp"

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

Cell::Cell(const Node& like, CellPtr parent, Path path)
    : shape_(like.shape),
      dtype_(like.dtype),
      device_(like.device),
      parent_(std::move(parent)),
      root_(parent_ ? parent_->root_ : this),
      path_(std::move(path)),
      depth_(parent_ ? parent_->depth_ + 1 : 0),
      trace_(runtime::Trace::current()) {}

Cell::~Cell() {
  if (root_ == this) return;
  const SpinGuard lock(SpinSet::cells, root_);
  if (node_) unlink();
}

void Cell::keep(NodePtr made) {
  node_ = std::move(made);
  previous_ = nullptr;
  next_ = root_->places_;
  if (next_ != nullptr) next_->previous_ = this;
  root_->places_ = this;
}

void Cell::unlink() noexcept {
  (previous_ != nullptr ? previous_->next_ : root_->places_) = next_;
  if (next_ != nullptr) next_->previous_ = previous_;
}

void intrusive_ptr_add_ref(Cell* cell) noexcept { cell->references_.fetch_add(1, std::memory_order_relaxed); }
void intrusive_ptr_release(Cell* cell) noexcept {
  if (cell->references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete cell;
}

CellPtr Cell::storage(NodePtr contents) {
  CellPtr cell(new Cell(*contents, nullptr, nullptr));
  cell->node_ = std::move(contents);
  return cell;
}

CellPtr Cell::place(CellPtr of, Path path) {
  Seen seen = of->look();
  NodePtr node = path(std::move(seen.node));
  CellPtr cell(new Cell(*node, std::move(of), std::move(path)));
  {
    Cell& root = *cell->root_;
    const SpinGuard lock(SpinSet::cells, &root);
    if (root.version_ == seen.version) cell->keep(std::move(node));
  }
  if (cell->depth_ > kDeepest) cell->flatten();
  return cell;
}

NodePtr Cell::node() { return look().node; }

Cell::Seen Cell::look() {
  {
    const SpinGuard lock(SpinSet::cells, root_);
    if (node_) return {node_, root_->version_};
  }
  Seen above = parent_->look();
  NodePtr made = path_(std::move(above.node));
  const SpinGuard lock(SpinSet::cells, root_);
  if (!node_ && root_->version_ == above.version) keep(made);
  return {std::move(made), above.version};
}

bool Cell::replace(NodePtr contents, std::uint64_t version) {
  std::vector<NodePtr> dropped;  // released after the lock, because that may run a user's deleter
  const SpinGuard lock(SpinSet::cells, this);
  if (version_ != version) return false;
  std::size_t count = 0;
  for (const Cell* place = places_; place != nullptr; place = place->next_) ++count;
  dropped.reserve(count);
  for (Cell* place = places_; place != nullptr; place = place->next_) dropped.push_back(std::move(place->node_));
  places_ = nullptr;
  node_.swap(contents);
  ++version_;
  return true;
}

void Cell::set_contents(NodePtr contents) {
  for (std::uint64_t version = root_->look().version; !replace(contents, version);) version = root_->look().version;
}

void Cell::mark(SizeMark mark) {
  auto marks = std::make_shared<std::vector<SizeMark>>(this->marks());
  std::erase_if(*marks, [&](const SizeMark& other) { return other.axis == mark.axis; });
  marks->push_back(std::move(mark));
  std::shared_ptr<const std::vector<SizeMark>> made = std::move(marks);
  const SpinGuard lock(SpinSet::cells, this);
  marks_.swap(made);
}

std::vector<Cell::SizeMark> Cell::marks() const {
  std::shared_ptr<const std::vector<SizeMark>> marks;
  {
    const SpinGuard lock(SpinSet::cells, this);
    marks = marks_;
  }
  return marks ? *marks : std::vector<SizeMark>();
}

void Cell::check_traced(std::string_view operation) const {
  const std::uint64_t trace = runtime::Trace::current();
  if (trace == 0 || root_->trace_ == trace || numel(root_->shape_) == 0) return;
  throw ArgumentError(
      operation,
      fmt::format("a tensor, {} {} on {}, was not passed to the captured function that is being traced, such "
                  "as a global: its elements would be recorded once and go stale; pass it as an argument, or "
                  "bind it with oriel::bind(f, tensor)",
                  name(dtype_), to_string(shape_), device_.str()));
}

NodePtr Cell::write(const NodePtr& value, const graph::Origin& origin) {
  std::shared_ptr<const ShapeTracker> where;
  if (root_ != this) {
    ShapeTracker map = this->map();
    const Distinctness verdict = distinctness(map);
    if (verdict.kind != Distinctness::Kind::Distinct) {
      throw ShapeError(
          origin.operation,
          fmt::format("{} of a tensor of {} cannot be written: {}; write a view that holds each element once",
                      to_string(shape_), to_string(root_->shape_), verdict.str()));
    }
    where = std::make_shared<const ShapeTracker>(std::move(map));
  }
  while (true) {
    Seen old = root_->look();
    NodePtr next = graph::assign(std::move(old.node), value, where, origin);
    if (root_->replace(next, old.version)) return next;
  }
}

// The path is applied to a placeholder node, because the storage's own node may have dropped its sources.
ShapeTracker Cell::map() const {
  std::vector<const Cell*> places;
  for (const Cell* cell = this; cell != root_; cell = cell->parent_.get()) places.push_back(cell);
  const NodePtr base = graph::iota(root_->shape_);
  NodePtr node = base;
  for (std::size_t k = places.size(); k-- > 0;) node = places[k]->path_(std::move(node));
  std::vector<const Node*> movements;
  for (const Node* n = node.get(); n != base.get(); n = n->sources[0].get()) movements.push_back(n);
  ShapeTracker map(root_->shape_);
  for (std::size_t k = movements.size(); k-- > 0;) map = graph::moved(map, *movements[k]);
  return map.simplify();
}

void Cell::flatten() {
  const ShapeTracker map = this->map();
  path_ = [views = std::vector<View>(map.views().begin(), map.views().end())](NodePtr node) {
    for (const View& view : views) node = graph::raw_view(std::move(node), view);
    return node;
  };
  parent_ = CellPtr(root_);
  depth_ = 1;
}

}  // namespace oriel::detail
