// The graph of one schedule: sources first, equal nodes joined, rewritten by rules as it is filled.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "graph/node.hpp"
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
  EntryId home = kNone;          // of an Assign: the leaf or Assign below it, whose memory it may reuse
  std::int32_t movements = 0;    // of a movement: how many stand one on the other here, this one included

  /// The strides in which a Buffer, Copy, Format or Assign is stored; null for row-major, as all other entries are.
  /// Only a root can be a Format, because values inside a kernel have no order of memory.
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

/// Do both lie in the same way? Null stands for row-major.
bool same_strides(const Ints* a, const Ints* b);

/// Entries by number, and by what they are.
class EntryTable {
 public:
  /// Makes room for this many entries.
  explicit EntryTable(std::size_t expected);

  std::size_t size() const { return entries_.size(); }
  const Entry& operator[](EntryId id) const { return entries_[static_cast<std::size_t>(id)]; }
  /// The number of an equal entry, which may be new.
  EntryId join(const Entry& entry);
  /// Places of the table that were looked at so far: for tests.
  std::size_t probes() const { return probes_; }

 private:
  void grow();

  std::vector<Entry> entries_;
  std::vector<EntryId> table_;  // open addressing over entries_, kNone where free
  std::size_t probes_ = 0;
};

/// Which Const nodes, by their numbers in the Order, are launch parameters, and which one each is. Decided by the cache
/// key (runtime/key.hpp).
using Parameters = std::vector<std::pair<std::int32_t, std::int32_t>>;

class Arena {
 public:
  /// Takes in the nodes of `order`, which was built from these roots; `parameters` tells which constants stay symbolic.
  /// A write of the whole target that is not a root is replaced by its value. `named`: numbers of further nodes for
  /// which named(i) answers.
  Arena(std::span<const graph::NodePtr> roots, const graph::Order& order, const Parameters& parameters,
        std::span<const std::int32_t> named = {});

  std::size_t size() const { return entries_.size(); }
  const Entry& operator[](EntryId id) const { return entries_[id]; }
  /// The first root's device: where numbers are that are read nowhere else.
  Device home() const { return home_; }
  /// The rules that are off in its context.
  const RulesOff& rules_off() const { return rules_off_; }
  /// Where an entry is evaluated if it is stored.
  Device device(EntryId id) const { return (*this)[id].device.value_or(home_); }
  /// The shape of an operand of a call of the host, whose source may be a reshape of it.
  const Shape& operand_shape(const Entry& host, int k) const {
    return operands_.at(host.node)[static_cast<std::size_t>(k)]->shape;
  }
  /// What the i-th root became.
  EntryId root(std::size_t i) const { return roots_[i]; }
  /// What the i-th of the named nodes became.
  EntryId named(std::size_t i) const { return named_[i]; }
  /// How often each rule fired, by name; for explain.
  const std::vector<std::pair<std::string, int>>& fired() const { return fired_; }

  /// Why rules that decide by cost applied, each time, with their names; for explain.
  const std::vector<std::pair<std::string, std::string>>& reasons() const { return reasons_; }

  /// Places of the table of entries that were looked at so far: for tests.
  std::size_t probes() const { return entries_.probes(); }

  // For rules: entries made of existing ones, joined with equal ones and rewritten in turn.
  EntryId make(graph::Op op, DType dtype, const Shape& shape, graph::Arg arg, std::span<const EntryId> sources);
  EntryId make_const(const graph::Scalar& value, const Shape& shape);
  EntryId make_copy(EntryId source, Device device);
  void give_reason(std::string_view rule, std::string reason) { reasons_.emplace_back(rule, std::move(reason)); }

 private:
  class Intake;

  EntryId add(Entry entry);
  EntryId make(const graph::NodePtr& node, std::span<const EntryId> sources);
  EntryId placed(EntryId id, Device device);
  void count(const Rule& rule);

  EntryTable entries_;
  std::deque<graph::NodePtr> owned_;
  std::vector<EntryId> roots_;
  std::vector<EntryId> named_;
  std::unordered_map<const graph::Node*, std::array<const graph::Node*, 3>> operands_;  // of calls of the host
  std::vector<std::pair<std::string, int>> fired_;
  std::vector<std::pair<std::string, std::string>> reasons_;
  int depth_ = 0;
  Device home_;  // of the first root
  RulesOff rules_off_;
  std::optional<Device> making_;  // of the entry that a rule looks at
};

}  // namespace oriel::schedule
