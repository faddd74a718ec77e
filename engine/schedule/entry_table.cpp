#include "schedule/arena.hpp"

#include <algorithm>
#include <bit>

#include "base/hash.hpp"
#include "graph/build.hpp"

namespace oriel::schedule {

using base::mix;
using graph::Op;

bool same_strides(const Ints* a, const Ints* b) { return a == b || (a != nullptr && b != nullptr && *a == *b); }

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
    std::uint64_t operator()(const graph::HostFunctionPtr& function) const { return function->number; }
    std::uint64_t operator()(const graph::TagPtr& /*tag*/) const { return 4; }
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

bool equal_entries(const Entry& a, const Entry& b) {
  return same_strides(a.strides, b.strides) && a.op == b.op && a.dtype == b.dtype && a.device == b.device &&
         std::equal(a.source, a.source + 3, b.source) && equal_args(a, b) &&
         (shape_is_told_by_sources(a) || graph::known_same(a.shape(), b.shape()));
}

}  // namespace

EntryTable::EntryTable(std::size_t expected)
    : table_(std::bit_ceil(std::max<std::size_t>(64, 2 * (expected + 1))), kNone) {
  entries_.reserve(expected);
}

EntryId EntryTable::join(const Entry& entry) {
  if (2 * (entries_.size() + 1) > table_.size()) grow();
  const std::size_t mask = table_.size() - 1;
  std::size_t slot = hash_entry(entry) & mask;
  for (++probes_; table_[slot] != kNone; slot = (slot + 1) & mask, ++probes_) {
    if (equal_entries((*this)[table_[slot]], entry)) return table_[slot];
  }
  table_[slot] = static_cast<EntryId>(entries_.size());
  entries_.push_back(entry);
  return table_[slot];
}

void EntryTable::grow() {
  table_.assign(table_.size() * 4, kNone);
  const std::size_t mask = table_.size() - 1;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    std::size_t slot = hash_entry(entries_[i]) & mask;
    while (table_[slot] != kNone) slot = (slot + 1) & mask;
    table_[slot] = static_cast<EntryId>(i);
  }
}

}  // namespace oriel::schedule
