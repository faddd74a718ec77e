#include "schedule/arena.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/hash.hpp"
#include "graph/build.hpp"
#include "graph/layout.hpp"
#include "oriel/error.hpp"
#include "schedule/rules.hpp"

namespace oriel::schedule {

using base::mix;
using graph::Node;
using graph::NodePtr;
using graph::Op;

namespace {

bool shape_is_told_by_sources(const Entry& e) { return graph::is_elementwise(e.op) || graph::is_reduce(e.op); }

std::uint64_t hash_arg(const Entry& e) noexcept {
  struct Visitor {
    std::uint64_t operator()(std::monostate) const { return 1; }
    std::uint64_t operator()(const graph::Scalar& s) const { return mix(2, static_cast<std::uint64_t>(s.i)); }
    std::uint64_t operator()(const Ints& ints) const { return hash_value(ints); }
    std::uint64_t operator()(const std::shared_ptr<const Ranges>& ranges) const {
      std::uint64_t h = 3;
      for (const Range& r : *ranges) h = mix(mix(h, std::hash<SymInt>()(r.lo)), std::hash<SymInt>()(r.hi));
      return h;
    }
    std::uint64_t operator()(const std::shared_ptr<const View>& view) const { return hash_value(*view); }
    std::uint64_t operator()(const std::shared_ptr<const ShapeTracker>& map) const { return hash_value(*map); }
    std::uint64_t operator()(const mem::BufferPtr& b) const { return reinterpret_cast<std::uintptr_t>(b.get()); }
  };
  if (e.op == Op::Buffer) return reinterpret_cast<std::uintptr_t>(e.buffer().get());
  if (e.op == Op::Format) return e.strides == nullptr ? 0 : hash_value(*e.strides);
  if (e.parameter >= 0) return static_cast<std::uint64_t>(e.parameter) + 7;
  return std::visit(Visitor{}, e.node->arg);
}

std::uint64_t hash_entry(const Entry& e) noexcept {
  std::uint64_t h = mix(static_cast<std::uint64_t>(e.op), static_cast<std::uint64_t>(e.dtype));
  for (int k = 0; k < e.arity; ++k) h = mix(h, static_cast<std::uint64_t>(e.source[k]));
  if (!shape_is_told_by_sources(e)) h = mix(h, hash_value(e.shape()));
  if (e.device)
    h = mix(h, static_cast<std::uint64_t>(e.device->context) << 16 | static_cast<std::uint64_t>(e.device->kind) << 8 |
                   e.device->index);
  return mix(h, hash_arg(e));
}

bool equal_args(const Entry& a, const Entry& b) {
  if (a.op == Op::Buffer) return a.buffer() == b.buffer();
  if (a.op == Op::Format) return true;  // the node is the root's, whatever it is; the strides say all
  if (a.parameter != b.parameter) return false;
  if (a.parameter >= 0) return true;
  if (a.node->arg.index() != b.node->arg.index()) return false;
  if (const auto* ra = std::get_if<std::shared_ptr<const Ranges>>(&a.node->arg))
    return **ra == **std::get_if<std::shared_ptr<const Ranges>>(&b.node->arg);
  if (a.op == Op::Assign) {
    if (a.home != b.home || (a.where() == nullptr) != (b.where() == nullptr)) return false;
    return a.where() == nullptr || *a.where() == *b.where();
  }
  if (const auto* va = std::get_if<std::shared_ptr<const View>>(&a.node->arg))
    return **va == **std::get_if<std::shared_ptr<const View>>(&b.node->arg);
  return a.node->arg == b.node->arg;
}

bool same_strides(const Ints* a, const Ints* b) { return a == b || (a != nullptr && b != nullptr && *a == *b); }

bool equal_entries(const Entry& a, const Entry& b) {
  return same_strides(a.strides, b.strides) && a.op == b.op && a.dtype == b.dtype && a.device == b.device &&
         std::equal(a.source, a.source + 3, b.source) && equal_args(a, b) &&
         (shape_is_told_by_sources(a) || a.shape() == b.shape());
}

}  // namespace

Arena::Arena(std::span<const NodePtr> roots, const graph::Order& order, const Parameters& parameters)
    : order_(&order), entry_of_(order.size(), kNone) {
  // A negative mark: not yet entered, but known as a parameter.
  for (const auto& [number, parameter] : parameters) entry_of_[static_cast<std::size_t>(number)] = -2 - parameter;
  if (!roots.empty()) home_ = roots.front()->device;
  rules_off_ = schedule::rules_off(home_.context);
  entries_.reserve(order.size());
  table_.assign(std::bit_ceil(std::max<std::size_t>(64, 2 * (order.size() + 1))), kNone);
  std::vector<bool> root(order.size());
  for (const std::int32_t r : order.roots()) root[static_cast<std::size_t>(r)] = true;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Node& n = order[i];
    Entry e;
    e.node = &n;
    e.op = order.in_memory(i) ? Op::Buffer : n.op;
    e.dtype = n.dtype;
    if (!order.movable(i)) e.device = n.device;
    if (e.op == Op::Buffer || e.op == Op::Assign) e.strides = graph::memory_strides(n);
    if (entry_of_[i] < kNone) e.parameter = -2 - entry_of_[i];
    const std::span<const std::int32_t> sources = order.sources(i);
    e.arity = static_cast<std::uint8_t>(sources.size());
    for (std::size_t k = 0; k < sources.size(); ++k) e.source[k] = source_of(n, sources[k]);
    entry_of_[i] = e.op == Op::Assign   ? add_write(e, static_cast<std::int32_t>(i), root[i])
                   : e.op == Op::Format ? e.source[0]
                                        : add(e);
  }
  for (std::size_t r = 0; r < roots.size(); ++r)
    roots_.push_back(add_root(*roots[r], entry_of_[static_cast<std::size_t>(order.roots()[r])]));
  order_ = nullptr;
  entry_of_ = {};
  writes_ = {};
}

// A root is stored as its layout says. What is stored in another order than that stands above what is computed, so that
// values which differ in nothing else are computed once.
EntryId Arena::add_root(const Node& root, EntryId value) {
  if (!(*this)[value].device && root.device != home_) value = placed(value, root.device);
  const Ints* strides = graph::memory_strides(root);
  const Op op = (*this)[value].op;
  const Ints* stored = op == Op::Assign || op == Op::Copy ? (*this)[value].strides : nullptr;
  if (same_strides(strides, stored)) return value;
  Entry e;
  e.node = &root;
  e.op = Op::Format;
  e.dtype = root.dtype;
  e.arity = 1;
  e.source[0] = value;
  e.strides = strides;
  e.device = (*this)[value].device;
  return join(e);
}

// A number that was put into memory as a result of its own is a number to whoever reads it on another device.
EntryId Arena::source_of(const Node& node, std::int32_t source) {
  const Node& s = (*order_)[source];
  const bool number = s.op == Op::Const || s.op == Op::Iota;
  if (!number || !order_->in_memory(source) || s.device == node.device || node.op == Op::Copy)
    return entry_of_[static_cast<std::size_t>(source)];
  Entry e;
  e.node = &s;
  e.op = s.op;
  e.dtype = s.dtype;
  return join(e);
}

// What stands for itself wherever it is read, as a value that is stored on this device.
EntryId Arena::placed(EntryId id, Device device) {
  Entry e = (*this)[id];
  e.device = device;
  return join(e);
}

// Writes of all are passed over on the way down to the memory: nobody asked for what they gave.
EntryId Arena::add_write(Entry entry, std::int32_t number, bool root) {
  const bool all = entry.where() == nullptr;
  if (all && !root) return entry.source[1];
  std::int32_t below = order_->sources(number)[0];
  while (!order_->in_memory(below) && (*order_)[below].op == Op::Assign && !writes_.contains(below))
    below = order_->sources(below)[0];
  if (order_->in_memory(below))
    entry.home = entry_of_[static_cast<std::size_t>(below)];
  else if (const auto kept = writes_.find(below); kept != writes_.end())
    entry.home = kept->second;
  // A write lies as its target does. Only where a rule has put another value in the target's place may they differ.
  if (entry.home != kNone && !same_strides((*this)[entry.home].strides, entry.strides)) entry.home = kNone;
  if (all && entry.home == kNone) return entry.source[1];
  return writes_[number] = join(entry);
}

EntryId Arena::add(Entry entry) {
  if (entry.op == Op::Copy) {
    const Entry& source = (*this)[entry.source[0]];
    if (!source.device) return entry.source[0];
    entry.strides = source.strides;
  }
  // A gather reads memory.
  if (entry.op == Op::Gather && !(*this)[entry.source[0]].device)
    entry.source[0] = placed(entry.source[0], entry.device.value_or(home_));
  // So does a sort, and row-major memory.
  if (graph::is_sort(entry.op)) {
    EntryId& source = entry.source[0];
    if (!(*this)[source].device) source = placed(source, entry.device.value_or(home_));
    if ((*this)[source].strides != nullptr) {
      Entry ordered = (*this)[source];
      ordered.op = Op::Format;
      ordered.arity = 1;
      ordered.source[0] = source;
      ordered.strides = nullptr;
      source = join(ordered);
    }
  }
  if (graph::is_movement(entry.op)) entry.movements = (*this)[entry.source[0]].movements + 1;
  // Rules name existing or newly made entries, so rewriting ends: each made entry has been rewritten itself. The bound
  // guards against a pair of rules that undo each other.
  if (depth_ > 64) throw InternalError("rewrite", "rules undo each other on " + std::string(graph::name(entry.op)));
  ++depth_;
  const std::optional<Device> outer = std::exchange(making_, entry.device);
  for (const Rule& rule : rules_for(entry.op)) {
    if (rules_off_.has(rule)) continue;
    if (auto replaced = rule.apply(*this, entry)) {
      --depth_;
      making_ = outer;
      auto it = std::find_if(fired_.begin(), fired_.end(), [&](const auto& f) { return f.first == rule.name; });
      if (it == fired_.end())
        fired_.emplace_back(std::string(rule.name), 1);
      else
        ++it->second;
      return *replaced;
    }
  }
  --depth_;
  making_ = outer;
  return join(entry);
}

EntryId Arena::join(const Entry& entry) {
  if (2 * (entries_.size() + 1) > table_.size()) grow_table();
  const std::size_t mask = table_.size() - 1;
  std::size_t slot = hash_entry(entry) & mask;
  for (++probes_; table_[slot] != kNone; slot = (slot + 1) & mask, ++probes_) {
    if (equal_entries((*this)[table_[slot]], entry)) return table_[slot];
  }
  table_[slot] = static_cast<EntryId>(entries_.size());
  entries_.push_back(entry);
  return table_[slot];
}

void Arena::grow_table() {
  table_.assign(table_.size() * 4, kNone);
  const std::size_t mask = table_.size() - 1;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    std::size_t slot = hash_entry(entries_[i]) & mask;
    while (table_[slot] != kNone) slot = (slot + 1) & mask;
    table_[slot] = static_cast<EntryId>(i);
  }
}

EntryId Arena::make(Op op, DType dtype, const Shape& shape, graph::Arg arg, std::span<const EntryId> sources) {
  auto* node = new Node;
  NodePtr owner(node);
  node->op = op;
  node->dtype = dtype;
  node->shape = shape;
  node->arg = std::move(arg);
  node->device = making_.value_or(home_);
  for (const EntryId s : sources)
    if (const auto device = (*this)[s].device) node->device = *device;
  return make(owner, sources);
}

EntryId Arena::make_copy(EntryId source, Device device) {
  auto* node = new Node;
  const NodePtr owner(node);
  node->op = Op::Copy;
  node->dtype = (*this)[source].dtype;
  node->shape = (*this)[source].shape();
  node->device = device;
  return make(owner, {&source, 1});
}

EntryId Arena::make(const NodePtr& node, std::span<const EntryId> sources) {
  if (!sources.empty()) const_cast<Node*>(node.get())->site = (*this)[sources[0]].node->site;  // nobody else knows it
  owned_.push_back(node);
  Entry e;
  e.node = node.get();
  e.op = node->op;
  e.dtype = node->dtype;
  if (!graph::movable(*node)) e.device = node->device;
  e.arity = static_cast<std::uint8_t>(sources.size());
  std::copy(sources.begin(), sources.end(), e.source);
  return add(e);
}

EntryId Arena::make_const(const graph::Scalar& value, const Shape& shape) {
  return make(Op::Const, value.dtype, shape, value, {});
}

}  // namespace oriel::schedule
