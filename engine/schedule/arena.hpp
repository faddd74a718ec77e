// The graph of one schedule: sources first, equal nodes joined, rewritten by rules as it is filled.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "graph/order.hpp"
#include "schedule/rule_switches.hpp"

namespace oriel::schedule {

using EntryId = std::int32_t;
inline constexpr EntryId kNone = -1;

/// A node as this schedule sees it. Sources have smaller ids. `node` supplies shape and argument (its own sources may
/// have been rewritten away and are not looked at).
struct Entry {
  const graph::Node* node = nullptr;
  graph::Op op = graph::Op::Const;  // Buffer for every realised node
  DType dtype = DType::float32;
  std::uint8_t arity = 0;
  EntryId source[3] = {kNone, kNone, kNone};
  std::int32_t parameter = -1;   // a Const whose value is given at launch
  std::optional<Device> device;  // none: a number or positions, evaluated where they are read
  EntryId home = kNone;          // of an Assign: the leaf or Assign below it, whose memory it may take over
  std::int32_t movements = 0;    // of a movement: how many stand one on the other here, this one included

  /// How the elements lie where this is stored, of a Buffer, Copy, Format or Assign; null for row-major. All others are
  /// stored row-major. A Format stands only for a root: inside of kernels an order of memory is nothing.
  const Ints* strides = nullptr;

  const Shape& shape() const { return node->shape; }
  bool is_const() const { return op == graph::Op::Const; }
  const graph::Scalar& scalar() const { return std::get<graph::Scalar>(node->arg); }
  /// Of an Assign: where the value goes in the target; null where it goes everywhere.
  const ShapeTracker* where() const {
    const auto* map = std::get_if<std::shared_ptr<const ShapeTracker>>(&node->arg);
    return map == nullptr ? nullptr : map->get();
  }
  const mem::BufferPtr& buffer() const { return node->realized() ? node->buffer : std::get<mem::BufferPtr>(node->arg); }
};

/// Which Const nodes, by their numbers in the Order, are launch parameters, and which one each is. Decided by the cache
/// key (runtime/key.hpp).
using Parameters = std::vector<std::pair<std::int32_t, std::int32_t>>;

class Arena {
 public:
  /// Takes in the nodes of `order`, which was built from these roots; `parameters` tells which constants stay symbolic.
  /// A write of all that is no root is its value.
  Arena(std::span<const graph::NodePtr> roots, const graph::Order& order, const Parameters& parameters);

  std::size_t size() const { return entries_.size(); }
  const Entry& operator[](EntryId id) const { return entries_[static_cast<std::size_t>(id)]; }
  /// The first root's device: where numbers are that are read nowhere else.
  Device home() const { return home_; }
  /// The rules that are off in its context.
  const RulesOff& rules_off() const { return rules_off_; }
  /// Where an entry is evaluated if it is stored.
  Device device(EntryId id) const { return (*this)[id].device.value_or(home_); }
  /// What the i-th root became.
  EntryId root(std::size_t i) const { return roots_[i]; }
  /// How often each rule fired, by name; for explain.
  const std::vector<std::pair<std::string, int>>& fired() const { return fired_; }

  /// Places of the table of entries that were looked at so far: for tests.
  std::size_t probes() const { return probes_; }

  // For rules: entries made of existing ones, joined with equal ones and rewritten in turn.
  EntryId make(graph::Op op, DType dtype, const Shape& shape, graph::Arg arg, std::span<const EntryId> sources);
  EntryId make_const(const graph::Scalar& value, const Shape& shape);
  EntryId make_copy(EntryId source, Device device);

 private:
  EntryId add(Entry entry);
  EntryId add_write(Entry entry, std::int32_t number, bool root);
  EntryId add_root(const graph::Node& root, EntryId value);
  EntryId make(const graph::NodePtr& node, std::span<const EntryId> sources);
  EntryId source_of(const graph::Node& node, std::int32_t source);
  EntryId placed(EntryId id, Device device);
  EntryId join(const Entry& entry);
  void grow_table();

  std::vector<Entry> entries_;
  std::vector<EntryId> table_;  // open addressing over entries_, kNone where free
  std::deque<graph::NodePtr> owned_;
  // While the nodes are taken in.
  const graph::Order* order_;
  std::vector<EntryId> entry_of_;                     // by number
  std::unordered_map<std::int32_t, EntryId> writes_;  // those that are entries, by number
  std::vector<EntryId> roots_;
  std::vector<std::pair<std::string, int>> fired_;
  int depth_ = 0;
  std::size_t probes_ = 0;
  Device home_;  // of the first root
  RulesOff rules_off_;
  std::optional<Device> making_;  // of the entry that a rule looks at
};

}  // namespace oriel::schedule
