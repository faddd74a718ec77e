// Nodes as one schedule sees them, each once.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "graph/node.hpp"

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

}  // namespace oriel::schedule
