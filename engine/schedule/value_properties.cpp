#include "schedule/value_properties.hpp"

#include <algorithm>

#include "schedule/estimate.hpp"

namespace oriel::schedule {

using graph::Op;

namespace {

// Up to so many operations for each element, computing a mask from positions costs no more than reading a stored mask.
// The elements that a mask hides are known only if it is not stored.
constexpr std::int64_t kMaskWork = 12;

ValueProperties learn(const Arena& arena, const std::vector<ValueProperties>& properties, EntryId v) {
  const Entry& e = arena[v];
  ValueProperties f;
  const SymInt elements = numel(e.shape());
  f.elements = estimate(elements);
  f.symbolic = elements.is_symbolic();
  f.empty = elements == 0;
  const graph::OpRow& row = graph::row(e.op);
  f.work = row.op_class == graph::OpClass::Elementwise || e.op == Op::Gather ? row.cost : 0;
  f.keeps_zero = row.keeps_zero;
  const bool renames = row.elements == graph::Elements::Renamed;
  const bool passes = row.op_class == graph::OpClass::Elementwise || e.op == Op::Gather || renames ||
                      (e.op == Op::Assign && e.where() == nullptr);
  f.distinct = !passes && !e.is_const() && row.op_class != graph::OpClass::Movement;
  // A gather reads from stored memory; its operand is the positions. A write of a part, a copy, a sort, a scan and a
  // scatter are read from memory, like a leaf. A write of the whole is its value.
  if ((e.op == Op::Assign && e.where() != nullptr) || e.op == Op::Copy || graph::runs_alone(e.op)) return f;
  if (e.is_const()) f.keeps_zero = e.parameter < 0 && e.scalar().is_zero();
  f.positions = e.is_const() || e.op == Op::Iota || row.op_class == graph::OpClass::Elementwise ||
                row.op_class == graph::OpClass::Movement;
  for (int k = e.op == Op::Assign || e.op == Op::Gather ? 1 : 0; k < e.arity; ++k) {
    const ValueProperties& s = properties[static_cast<std::size_t>(e.source[k])];
    f.positions = f.positions && s.positions;
    f.distinct = f.distinct || (passes && s.distinct);
    f.raw_view = f.raw_view || s.raw_view || e.op == Op::RawView;
    const bool reduced = graph::is_reduce(arena[e.source[k]].op);
    const bool again = std::find(e.source, e.source + k, e.source[k]) != e.source + k;  // x * x evaluates x once
    if (!reduced && !again) f.work = std::min(kWorkCap, f.work + s.work);
    // A pad is zero outside of its source, whatever the source is: the source's reads are masked, or the value is.
    if (row.elements != graph::Elements::Padded) f.keeps_zero = f.keeps_zero && s.keeps_zero;
    f.row_level = f.row_level || ((reduced || s.row_level) && s.elements == f.elements);
    if (f.over == kNone && s.elements == f.elements) f.over = s.over;
    f.over_reduction = f.over_reduction || reduced || s.over_reduction;
  }
  f.recompute_always = f.positions && !is_floating(e.dtype) && f.work <= kMaskWork;
  if (graph::is_reduce(e.op)) {
    f.keeps_zero = false;
    f.row_level = false;
    f.raw_view = false;
    f.over = v;
  }
  return f;
}

}  // namespace

std::vector<ValueProperties> find_properties(const Arena& arena) {
  std::vector<ValueProperties> properties(arena.size());
  for (EntryId v = 0; v < static_cast<EntryId>(arena.size()); ++v)
    properties[static_cast<std::size_t>(v)] = learn(arena, properties, v);
  std::vector<bool> read(arena.size(), false), read_otherwise = read;
  for (EntryId v = static_cast<EntryId>(arena.size()); v-- > 0;) {
    const Entry& e = arena[v];
    const auto i = static_cast<std::size_t>(v);
    const bool computes = graph::is_elementwise(e.op) || graph::is_movement(e.op);
    const bool number = e.dtype == DType::int64 || e.dtype == DType::bool_;
    const bool finds = properties[i].finds = computes && number && read[i] && !read_otherwise[i];
    for (int k = 0; k < e.arity; ++k)
      (finds || (e.op == Op::Gather && k == 1) ? read : read_otherwise)[static_cast<std::size_t>(e.source[k])] = true;
  }
  return properties;
}

}  // namespace oriel::schedule
