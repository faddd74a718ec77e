#include "source/cpp/loop_statements.hpp"

#include <algorithm>
#include <set>

#include "source/cpp/frame.hpp"

namespace oriel::source::cpp {

using codegen::Instr;
using codegen::kNoValue;
using codegen::LoopProgram;
using codegen::Orientation;
using codegen::Reduction;
using codegen::Stage;
using codegen::ValueId;

namespace {

/// Rows of packets are reduced in registers if each tile begins at lane 0 and ends in the block in which it begins.
std::vector<bool> choose_gathers(const LoopProgram& program, const PacketForm& packets) {
  std::vector<bool> in_registers(program.stages.size(), false);
  for (std::size_t s = 0; s < program.stages.size(); ++s) {
    const Stage& stage = program.stages[s];
    if (stage.body.empty() || stage.reductions.empty() || stage.inner.empty()) continue;
    const SymInt last = stage.inner.back();
    const bool whole = stage.inner.size() == 1 || (!last.is_symbolic() && last.value() % kReductionBlock == 0);
    const bool packed = std::all_of(stage.reductions.begin(), stage.reductions.end(), [&](const Reduction& r) {
      return r.dtype == packets.main && graph::row(graph::row(r.op).combination).packets != ops::Packets::None;
    });
    if (whole && packed && fills_lanes(stage)) in_registers[s] = true;
  }
  return in_registers;
}

}  // namespace

Tiling choose_tiling(const LoopProgram& program, const KernelSizes& sizes, const PacketForm& packets,
                     const LoopsForm& form, bool framed) {
  Tiling t;
  for (const Stage& stage : program.stages) t.rows = t.rows || !stage.body.empty() || !stage.reductions.empty();
  t.rows = t.rows && program.orientation == Orientation::Inner;
  std::vector<std::int64_t> extents;
  std::int64_t longest = 1;
  for (const Stage& stage : program.stages) {
    if (!t.rows || (stage.body.empty() && stage.reductions.empty())) continue;
    extents.push_back(stage.inner.empty() ? 1 : sym::estimate(stage.inner.back()));
    longest = std::max(longest, sym::estimate(numel(stage.inner, "render")));
  }
  const std::int64_t last = program.outer.empty() ? 1 : sym::estimate(program.outer.back());
  if (!t.rows) extents.push_back(last);
  t.in_registers.assign(program.stages.size(), false);
  if (t.rows && packets.packets && !framed && form.longest_tile >= kReductionLanes)
    t.in_registers = choose_gathers(program, packets);
  const bool gathers = std::find(t.in_registers.begin(), t.in_registers.end(), true) != t.in_registers.end();
  t.tile = std::min(tile_length(extents, gathers ? kReductionBlock : 256), form.longest_tile);
  // Blocks of columns that wait to be paired take much memory where their number is symbolic.
  if (sizes.symbolic() && !sizes.unit()) t.tile = std::min(t.rows ? 256 : 128, form.longest_tile);
  if (sizes.unit() && t.rows) t.tile = 256;
  if (sizes.unit() && !t.rows && !program.outer.empty() && program.outer.back().is_symbolic())
    t.tile = columns_tile(program);
  // A shorter tile would begin in the middle of the lanes.
  if (gathers) t.tile = std::max(t.tile, kReductionLanes);
  t.row_step = std::clamp<std::int64_t>(std::min(kRowElements / longest, last), 1,
                                        std::min<std::int64_t>(kMostRows, form.longest_tile));
  if (sizes.unit()) t.row_step = kMostRows;  // at most: rows_from_sizes()
  return t;
}

// Moments are numbered: one for each instruction of a stage's body, one for the end of its loops, one for each of its
// outer instructions.
std::vector<std::vector<ValueId>> find_lives(const LoopProgram& program, std::vector<PlacedValue>& values) {
  for (PlacedValue& value : values) value.last_use = -1;
  std::vector<bool> outer(program.values.size(), false);
  std::vector<std::vector<ValueId>> read_inside(program.stages.size());
  std::int64_t now = 0;
  for (std::size_t s = 0; s < program.stages.size(); ++s) {
    const Stage& stage = program.stages[s];
    const std::int64_t end = now + static_cast<std::int64_t>(stage.body.size());
    std::set<ValueId> seen;
    const auto read = [&](ValueId v, std::int64_t time) {
      if (v == kNoValue) return;
      // Loops repeat, so an outer value that they read lives to their end.
      values[at(v)].last_use = outer[at(v)] ? end : time;
      if (outer[at(v)] && seen.insert(v).second) read_inside[s].push_back(v);
    };
    for (const Instr& in : stage.body) {
      for (const ValueId v : {in.a, in.b, in.c}) read(v, now);
      ++now;
    }
    for (const Reduction& r : stage.reductions) read(r.input, end);
    for (const Reduction& r : stage.reductions) outer[at(r.result)] = true;
    ++now;
    for (const Instr& in : stage.outer) {
      for (const ValueId v : {in.a, in.b, in.c}) {
        if (v != kNoValue) values[at(v)].last_use = now;
      }
      if (in.result != kNoValue) outer[at(in.result)] = true;
      ++now;
    }
  }
  return read_inside;
}

}  // namespace oriel::source::cpp
