#include "backend/eigen/tile/plan_steps.hpp"

#include <algorithm>
#include <limits>
#include <map>

#include "backend/eigen/tile/registers.hpp"
#include "backend/eigen/tile/tiles.hpp"
#include "codegen/keep.hpp"

namespace oriel::backend::eigen {

using codegen::Code;
using codegen::Instr;
using codegen::kNoValue;
using codegen::LoopProgram;
using codegen::Stage;
using codegen::ValueId;

namespace {

class ValuePlacer {
 public:
  ValuePlacer(const LoopProgram& program, const std::vector<Stage>& stages, const TileFrame* frame, std::int64_t tile,
              PlanTables& tables, Plan& plan)
      : program_(program), stages_(stages), frame_(frame), tile_(tile), tables_(tables), plan_(plan) {}

  ValueSlots run() {
    out_.slot.assign(program_.values.size(), PlanTables::kNoSlot);
    out_.outer.assign(program_.values.size(), false);
    out_.repeated.assign(program_.values.size(), false);
    find_lives();
    place_outer();
    place_kept();
    return std::move(out_);
  }

 private:
  int log_bytes(ValueId v) const { return log_bytes_of(program_.values[static_cast<std::size_t>(v)]); }

  // Time runs through the program: stage s's loops are one moment, then each of its outer instructions is one.
  void find_lives() {
    last_use_.assign(program_.values.size(), -1);
    std::int64_t now = 0;
    const auto use = [&](ValueId v) { last_use_[static_cast<std::size_t>(v)] = now; };
    for (const Stage& stage : stages_) {
      ++now;
      for (const Instr& in : stage.body) codegen::each_operand(in, use);
      for (const codegen::Reduction& r : stage.reductions) {
        use(r.input);
        out_.outer[static_cast<std::size_t>(r.result)] = true;
        last_use_[static_cast<std::size_t>(r.result)] = now;
      }
      for (const Instr& in : stage.outer) {
        ++now;
        codegen::each_operand(in, use);
        if (in.result != kNoValue) {
          out_.outer[static_cast<std::size_t>(in.result)] = true;
          last_use_[static_cast<std::size_t>(in.result)] = now;
        }
      }
    }
    if (frame_ != nullptr && frame_->wanted != kNoValue) {
      last_use_[static_cast<std::size_t>(frame_->wanted)] = std::numeric_limits<std::int64_t>::max();
    }
  }

  // Registers of outer values: `block` elements each, alive over stages.
  void place_outer() {
    for (const Stage& stage : stages_)
      codegen::each_instruction(stage, [&](const Instr& in) {
        if (in.result != kNoValue) out_.slot[static_cast<std::size_t>(in.result)] = tables_.pin(in);
      });
    out_.pinned.assign(program_.values.size(), false);
    for (std::size_t v = 0; v < out_.slot.size(); ++v) out_.pinned[v] = out_.slot[v] != PlanTables::kNoSlot;

    Registers registers(plan_.arena_bytes, plan_.block);
    place_repeated(registers);
    std::multimap<std::int64_t, ValueId> ends;
    const auto take = [&](ValueId v) {
      const auto i = static_cast<std::size_t>(v);
      if (out_.pinned[i] || out_.repeated[i]) return;
      out_.slot[i] = tables_.new_slot(registers.take(log_bytes(v)));
      ends.emplace(last_use_[i], v);
    };
    const auto release_until = [&](std::int64_t now) {
      while (!ends.empty() && ends.begin()->first <= now) {
        const ValueId v = ends.begin()->second;
        registers.give(plan_.offsets[static_cast<std::size_t>(out_.slot[static_cast<std::size_t>(v)])], log_bytes(v));
        ends.erase(ends.begin());
      }
    };
    if (frame_ != nullptr && frame_->given != kNoValue) take(frame_->given);
    std::int64_t now = 0;
    for (const Stage& stage : stages_) {
      ++now;
      // Results are written while the loops still read their operands, so they get registers before these are freed.
      for (const codegen::Reduction& r : stage.reductions) take(r.result);
      release_until(now);
      for (const Instr& in : stage.outer) {
        ++now;
        // Operands that end here may give their register to the result: each element is read before it is written.
        if (in.code == Code::Elementwise || in.code == Code::Round) release_until(now);
        if (in.result != kNoValue) take(in.result);
        release_until(now);
      }
    }
    plan_.arena_bytes = registers.end();
  }

  // These registers are never given to another value.
  void place_repeated(Registers& registers) {
    constexpr std::size_t most = 24;
    std::size_t count = 0;
    for (const Stage& stage : stages_) {
      for (const Instr& in : stage.outer) {
        if (in.code != Code::Load || count == most) continue;
        const auto i = static_cast<std::size_t>(in.result);
        if (out_.pinned[i] || !tables_.repeats(in)) continue;
        ++count;
        out_.repeated[i] = true;
        out_.slot[i] = tables_.new_slot(registers.take(log_bytes(in.result)));
      }
    }
  }

  void place_kept() {
    out_.kept.assign(program_.values.size(), false);
    for (const ValueId v : codegen::kept_values(program_)) {
      const auto i = static_cast<std::size_t>(v);
      if (out_.pinned[i]) continue;
      for (std::size_t s = 0; s < stages_.size() && out_.slot[i] == PlanTables::kNoSlot; ++s) {
        const std::vector<Instr>& body = stages_[s].body;
        if (std::none_of(body.begin(), body.end(), [&](const Instr& in) { return in.result == v; })) continue;
        const TileStage& stage = plan_.stages[s];
        out_.kept[i] = plan_.keeps = true;
        out_.slot[i] = tables_.new_slot(plan_.arena_bytes);
        plan_.arena_bytes += (stage.points + stage.step - 1) / stage.step * Registers::bytes(tile_, log_bytes(v));
      }
    }
  }

  const LoopProgram& program_;
  const std::vector<Stage>& stages_;
  const TileFrame* frame_;
  std::int64_t tile_;
  PlanTables& tables_;
  Plan& plan_;
  ValueSlots out_;
  std::vector<std::int64_t> last_use_;
};

}  // namespace

ValueSlots place_values(const LoopProgram& program, const std::vector<Stage>& stages, const TileFrame* frame,
                        std::int64_t tile, PlanTables& tables, Plan& plan) {
  return ValuePlacer(program, stages, frame, tile, tables, plan).run();
}

}  // namespace oriel::backend::eigen
