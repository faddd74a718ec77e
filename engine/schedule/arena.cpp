#include "schedule/arena.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "graph/build.hpp"
#include "graph/layout.hpp"
#include "oriel/error.hpp"
#include "schedule/rules.hpp"

namespace oriel::schedule {

using graph::Node;
using graph::NodePtr;
using graph::Op;

/// Takes the nodes of an Order into an arena, sources first.
class Arena::Intake {
 public:
  Intake(Arena& arena, const graph::Order& order, const Parameters& parameters)
      : arena_(arena), order_(order), entry_of_(order.size(), kNone) {
    // A negative mark: not yet entered, but known as a parameter.
    for (const auto& [number, parameter] : parameters) entry_of_[static_cast<std::size_t>(number)] = -2 - parameter;
  }
  void add_all();
  EntryId add_root(const Node& root, EntryId value);
  EntryId entry_of(std::int32_t number) const { return entry_of_[static_cast<std::size_t>(number)]; }

 private:
  EntryId add_write(Entry entry, std::int32_t number, bool root);
  EntryId source_of(const Node& node, std::int32_t source);

  Arena& arena_;
  const graph::Order& order_;
  std::vector<EntryId> entry_of_;                     // by number
  std::unordered_map<std::int32_t, EntryId> writes_;  // those that are entries, by number
};

Arena::Arena(std::span<const NodePtr> roots, const graph::Order& order, const Parameters& parameters,
             std::span<const std::int32_t> named)
    : entries_(order.size()) {
  if (!roots.empty()) home_ = roots.front()->device;
  rules_off_ = schedule::rules_off(home_.context);
  Intake intake(*this, order, parameters);
  intake.add_all();
  for (std::size_t r = 0; r < roots.size(); ++r)
    roots_.push_back(intake.add_root(*roots[r], intake.entry_of(order.roots()[r])));
  for (const std::int32_t number : named) named_.push_back(intake.entry_of(number));
}

void Arena::Intake::add_all() {
  std::vector<bool> root(order_.size());
  for (const std::int32_t r : order_.roots()) root[static_cast<std::size_t>(r)] = true;
  for (std::size_t i = 0; i < order_.size(); ++i) {
    const Node& n = order_[i];
    Entry e;
    e.node = &n;
    e.op = order_.in_memory(i) ? Op::Buffer : n.op;
    e.dtype = n.dtype;
    if (!order_.movable(i)) e.device = n.device;
    if (e.op == Op::Buffer || e.op == Op::Assign) e.strides = graph::memory_strides(n);
    if (entry_of_[i] < kNone) e.parameter = -2 - entry_of_[i];
    const std::span<const std::int32_t> sources = order_.sources(i);
    e.arity = static_cast<std::uint8_t>(sources.size());
    for (std::size_t k = 0; k < sources.size(); ++k) e.source[k] = source_of(n, sources[k]);
    entry_of_[i] = e.op == Op::Assign   ? add_write(e, static_cast<std::int32_t>(i), root[i])
                   : e.op == Op::Format ? e.source[0]
                                        : arena_.add(e);
  }
}

// A root is stored in the order of its layout. A Format entry above the computed value names this order, so values that
// differ only in their order of memory are computed once.
EntryId Arena::Intake::add_root(const Node& root, EntryId value) {
  if (!arena_[value].device && root.device != arena_.home_) value = arena_.placed(value, root.device);
  const Ints* strides = graph::memory_strides(root);
  const Op op = arena_[value].op;
  const Ints* stored = op == Op::Assign || op == Op::Copy ? arena_[value].strides : nullptr;
  if (same_strides(strides, stored)) return value;
  Entry e;
  e.node = &root;
  e.op = Op::Format;
  e.dtype = root.dtype;
  e.arity = 1;
  e.source[0] = value;
  e.strides = strides;
  e.device = arena_[value].device;
  return arena_.entries_.join(e);
}

// A constant that was realised as a tensor is read as a constant again on other devices.
EntryId Arena::Intake::source_of(const Node& node, std::int32_t source) {
  const Node& s = order_[source];
  const bool number = s.op == Op::Const || s.op == Op::Iota;
  if (!number || !order_.in_memory(source) || s.device == node.device || node.op == Op::Copy)
    return entry_of_[static_cast<std::size_t>(source)];
  Entry e;
  e.node = &s;
  e.op = s.op;
  e.dtype = s.dtype;
  return arena_.entries_.join(e);
}

// A number or positions, which have no device, as a value that is stored on this device.
EntryId Arena::placed(EntryId id, Device device) {
  Entry e = (*this)[id];
  e.device = device;
  return entries_.join(e);
}

// The search for the memory skips writes of the whole target that are no entries: nobody asked for their results.
EntryId Arena::Intake::add_write(Entry entry, std::int32_t number, bool root) {
  const bool all = entry.where() == nullptr;
  if (all && !root) return entry.source[1];
  std::int32_t below = order_.sources(number)[0];
  while (!order_.in_memory(below) && order_[below].op == Op::Assign && !writes_.contains(below))
    below = order_.sources(below)[0];
  if (order_.in_memory(below))
    entry.home = entry_of_[static_cast<std::size_t>(below)];
  else if (const auto kept = writes_.find(below); kept != writes_.end())
    entry.home = kept->second;
  // A write has its target's order of memory, unless a rule has replaced the target.
  if (entry.home != kNone && !same_strides(arena_[entry.home].strides, entry.strides)) entry.home = kNone;
  if (all && entry.home == kNone) return entry.source[1];
  return writes_[number] = arena_.entries_.join(entry);
}

EntryId Arena::add(Entry entry) {
  if (entry.op == Op::Copy) {
    const Entry& source = (*this)[entry.source[0]];
    if (!source.device) return entry.source[0];
    entry.strides = source.strides;
  }
  // A gather reads from memory.
  if (entry.op == Op::Gather && !(*this)[entry.source[0]].device)
    entry.source[0] = placed(entry.source[0], entry.device.value_or(home_));
  // Sorts, scans, scatters and calls of the host also read from memory, which must be row-major.
  for (int k = 0; graph::runs_alone(entry.op) && k < entry.arity; ++k) {
    EntryId& source = entry.source[k];
    if (graph::is_host(entry.op)) operands_[entry.node][static_cast<std::size_t>(k)] = (*this)[source].node;
    // A reshape of row-major elements names the same memory. What positions of a scatter mean depends on their shape.
    const bool shaped = graph::is_scatter(entry.op) && k == 0;
    while (!shaped && (*this)[source].op == Op::Reshape && (*this)[source].strides == nullptr &&
           (*this)[(*this)[source].source[0]].strides == nullptr)
      source = (*this)[source].source[0];
    if (!(*this)[source].device) source = placed(source, entry.device.value_or(home_));
    if ((*this)[source].strides != nullptr) {
      Entry ordered = (*this)[source];
      ordered.op = Op::Format;
      ordered.arity = 1;
      ordered.source[0] = source;
      ordered.strides = nullptr;
      source = entries_.join(ordered);
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
      count(rule);
      return *replaced;
    }
  }
  --depth_;
  making_ = outer;
  return entries_.join(entry);
}

void Arena::count(const Rule& rule) {
  const auto it = std::find_if(fired_.begin(), fired_.end(), [&](const auto& f) { return f.first == rule.name; });
  if (it == fired_.end())
    fired_.emplace_back(std::string(rule.name), 1);
  else
    ++it->second;
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
