#include "backend/eigen/tile/plan.hpp"

#include <algorithm>
#include <limits>

#include "backend/eigen/tile/patches.hpp"
#include "backend/eigen/tile/plan_steps.hpp"
#include "backend/eigen/tile/plan_tables.hpp"
#include "backend/eigen/tile/registers.hpp"
#include "backend/eigen/tile/tiles.hpp"
#include "ops/functions/reduction_order.hpp"
#include "oriel/error.hpp"
#include "source/cpp/frame.hpp"

namespace oriel::backend::eigen {

using codegen::Access;
using codegen::Code;
using codegen::Instr;
using codegen::kNoValue;
using codegen::LoopProgram;
using codegen::Stage;
using codegen::ValueId;
using graph::Op;

namespace {

static_assert(isa::kBlock == ops::reduction::kBlock && isa::kLanes == ops::reduction::kOrder,
              "one order of reductions");

// Shorter rows are reduced several in a vector.
constexpr std::int64_t kShortestSummed = 9;

bool is_pinned(const Plan& plan, Slot slot) {
  return std::any_of(plan.pinned.begin(), plan.pinned.end(), [&](const Pinned& p) { return p.slot == slot; });
}

// Gives reductions their memory, behind the registers. Stages share it, because they run one after the other.
void plan_reductions(Plan& plan) {
  std::int64_t most = plan.arena_bytes;
  for (TileStage& stage : plan.stages) {
    std::int64_t at = plan.arena_bytes;
    std::int64_t levels = 2;
    for (std::int64_t blocks = stage.points / isa::kBlock + 1; blocks > 0; blocks /= 2) ++levels;
    for (TileReduction& r : stage.reductions) {
      r.accumulator = at;
      at += Registers::bytes(isa::kLanes * plan.block, r.log_bytes);
      r.waiting = at;
      at += Registers::bytes(levels * plan.block, r.log_bytes);
    }
    most = std::max(most, at);
  }
  plan.arena_bytes = most;
}

// Finds the stages that only reduce a matrix in memory. A load that fetches ahead keeps its tiles.
void find_direct(Plan& plan) {
  for (TileStage& stage : plan.stages) {
    if (stage.body.size() != 1 || stage.reductions.size() != 1 || !stage.kept.empty()) continue;
    const TileStep& load = stage.body.front();
    const TileReduction& r = stage.reductions.front();
    if (load.kind != StepKind::Load || load.ahead != 0 || r.sum.rows != nullptr || r.moments.rows != nullptr ||
        r.input != load.dst)
      continue;
    const MemoryAccess& m = plan.accesses[static_cast<std::size_t>(load.access)];
    if (m.same && m.walk.matrix() && (!plan.columns || r.accumulate_rows != nullptr)) stage.direct = load.access;
  }
}

double work(const Plan& plan) {
  double sum = 0;
  for (const TileStage& stage : plan.stages) {
    const auto points = static_cast<double>(plan.points);
    if (stage.loops) sum += points * static_cast<double>(stage.points) * static_cast<double>(stage.body_work);
    sum += points * static_cast<double>(stage.outer_work);
  }
  return sum;
}

class Planner {
 public:
  Planner(const LoopProgram& program, const isa::Table& table, std::int64_t tile, const TileFrame* frame = nullptr,
          std::int64_t rows = 0)
      : program_(program),
        table_(table),
        plan_(std::make_shared<Plan>()),
        wanted_tile_(tile),
        frame_(frame),
        rows_(rows),
        lookups_(find_lookups(program, wanted(), frame == nullptr && rows == 0)),
        patched_(lookups_.rows ? PatchedStages{lookups_.stages, {}} : join_patches(program, lookups_.stages, wanted())),
        stages_(chained_stages(patched_.stages, program.values.size(), table, wanted())),
        readers_(count_readers(stages_, program.values.size())),
        tables_(program, table, frame != nullptr, *plan_) {}

  std::shared_ptr<Plan> run() {
    plan_->name = program_.name;
    plan_->table = &table_;
    plan_->arguments = static_cast<std::size_t>(
        std::count_if(program_.arguments.begin(), program_.arguments.end(), [](const auto& a) { return !a.local; }));
    for (const codegen::Constant& constant : program_.constants) {
      if (constant.parameter >= 0) {
        plan_->parameters = std::max(plan_->parameters, static_cast<std::size_t>(constant.parameter) + 1);
      }
    }
    if (frame_ != nullptr) {
      lay_frame();
    } else {
      Tiler tiler(program_, lookups_, *plan_);
      tile_length_ = rows_ > 0 ? tiler.lay_rows(rows_, wanted_tile_) : tiler.run(wanted_tile_);
    }
    values_ = place_values(program_, stages_, frame_, tile_length_, tables_, *plan_);
    lower();
    look_ahead(program_, *plan_);
    find_direct(*plan_);
    plan_reductions(*plan_);
    plan_->arena_bytes = (plan_->arena_bytes + 63) / 64 * 64;
    plan_->work = work(*plan_);
    return plan_;
  }

  Slot slot_of(ValueId v) const { return values_.slot[static_cast<std::size_t>(v)]; }

 private:
  ValueId wanted() const { return frame_ == nullptr ? kNoValue : frame_->wanted; }

  [[noreturn]] void refuse(const std::string& why) const {
    throw DeviceError("compile", "kernel " + program_.name + " on eigen: " + why);
  }

  int log_bytes(ValueId v) const { return log_bytes_of(program_.values[static_cast<std::size_t>(v)]); }

  /// The register of a value that is read. Programs that are made of verified ones are not all verified themselves.
  Slot placed(ValueId v, const std::vector<Slot>& slots) const {
    const Slot slot = slots[static_cast<std::size_t>(v)];
    if (slot != PlanTables::kNoSlot) return slot;
    throw InternalError("compile",
                        "kernel " + program_.name + " reads v" + std::to_string(v) + ", which nothing computes");
  }

  void lay_frame() {
    plan_->block = tile_length_ = frame_->tile;
    plan_->pinned_length = (frame_->tile + isa::kPacket - 1) / isa::kPacket * isa::kPacket;
    plan_->grid_split = frame_->split;
    plan_->stages.resize(stages_.size());
  }

  void lower() {
    std::int64_t most = plan_->arena_bytes;
    for (std::size_t s = 0; s < stages_.size(); ++s) {
      Registers registers(plan_->arena_bytes, tile_length_);
      lower_body(stages_[s], plan_->stages[s], registers);
      most = std::max(most, registers.end());
      TileStage& stage = plan_->stages[s];
      std::vector<const Instr*> made;
      for (const Instr& in : stages_[s].outer) {
        lower_instr(in, stage.outer, values_.slot, false);
        if (made.size() < stage.outer.size()) made.push_back(&in);
      }
      stage.outer_work = static_cast<std::int64_t>(stage.outer.size());
      join_chains(*plan_, stage.outer, made, [&](Slot slot) { return is_pinned(*plan_, slot); });
      pair_stores(program_, *plan_, tables_.copied_inputs(), stage.kept, stage.body);
      pair_stores(program_, *plan_, tables_.copied_inputs(), {}, stage.outer);
    }
    plan_->arena_bytes = most;
  }

  void lower_body(Stage stage, TileStage& out, Registers& registers) {
    const std::vector<RowSum> sums = row_sums(readers_, table_, summed_rows(out), stage, [&](ValueId v) {
      return values_.pinned[static_cast<std::size_t>(v)] || values_.outer[static_cast<std::size_t>(v)];
    });
    std::vector<ValueId> summed;
    for (const RowSum& sum : sums) {
      summed.push_back(sum.a);
      if (!sum.is_uniform) summed.push_back(sum.b);
    }
    // Outer values that the loops read are spread into registers that keep for the whole stage.
    std::vector<Slot> slots = values_.slot;
    const auto spread = [&](ValueId v) {
      const auto i = static_cast<std::size_t>(v);
      if (v == kNoValue || !values_.outer[i] || values_.pinned[i] || slots[i] != values_.slot[i]) return;
      Broadcast b;
      b.from = values_.slot[i];
      b.to = tables_.new_slot(registers.take(log_bytes(v)));
      b.log_bytes = static_cast<std::int8_t>(log_bytes(v));
      slots[i] = b.to;
      out.broadcasts.push_back(b);
    };
    for (const Instr& in : stage.body) codegen::each_operand(in, spread);
    for (const ValueId v : summed) spread(v);

    const auto keep = [&](ValueId v) {
      if (v == kNoValue || !values_.kept[static_cast<std::size_t>(v)]) return;
      const Slot slot = values_.slot[static_cast<std::size_t>(v)];
      if (std::any_of(out.kept.begin(), out.kept.end(), [&](const Kept& k) { return k.slot == slot; })) return;
      out.kept.push_back(
          {slot, plan_->offsets[static_cast<std::size_t>(slot)], Registers::bytes(tile_length_, log_bytes(v))});
    };
    for (const Instr& in : stage.body)
      for (const ValueId v : {in.a, in.b, in.c, in.result}) keep(v);
    for (const ValueId v : summed) keep(v);

    std::vector<std::int64_t> last(program_.values.size(), -1);
    for (std::size_t i = 0; i < stage.body.size(); ++i) {
      for (const ValueId v : {stage.body[i].a, stage.body[i].b, stage.body[i].c, stage.body[i].result}) {
        if (v != kNoValue) last[static_cast<std::size_t>(v)] = static_cast<std::int64_t>(i);
      }
    }
    for (const ValueId v : summed) {
      if (v != kNoValue) last[static_cast<std::size_t>(v)] = std::numeric_limits<std::int64_t>::max();
    }
    const auto release = [&](ValueId v, std::int64_t i) {
      if (v == kNoValue) return;
      const auto k = static_cast<std::size_t>(v);
      if (last[k] != i || values_.outer[k] || values_.pinned[k] || values_.kept[k]) return;
      registers.give(plan_->offsets[static_cast<std::size_t>(slots[k])], log_bytes(v));
      last[k] = -1;
    };
    std::vector<const Instr*> made;
    for (std::size_t n = 0; n < stage.body.size(); ++n) {
      const Instr& in = stage.body[n];
      const auto i = static_cast<std::int64_t>(n);
      const auto release_operands = [&] { codegen::each_operand(in, [&](ValueId v) { release(v, i); }); };
      if (in.code == Code::Elementwise || in.code == Code::Round) release_operands();
      if (in.result != kNoValue && !values_.pinned[static_cast<std::size_t>(in.result)] &&
          !values_.kept[static_cast<std::size_t>(in.result)]) {
        slots[static_cast<std::size_t>(in.result)] = tables_.new_slot(registers.take(log_bytes(in.result)));
      }
      release_operands();
      if (in.result != kNoValue) release(in.result, i);
      lower_instr(in, out.body, slots, true);
      if (made.size() < out.body.size()) made.push_back(&in);
    }
    for (std::size_t k = 0; k < sums.size(); ++k) {
      const codegen::Reduction& r = stage.reductions[k];
      TileReduction p;
      p.fns = &table_.reduce[isa::reduce_index(r.op)][index(r.dtype)];
      p.accumulate_rows = table_.accumulate_rows[isa::reduce_index(r.op)][index(r.dtype)];
      if (p.fns->accumulate == nullptr) {
        refuse("no " + std::string(graph::name(r.op)) + " of " + std::string(oriel::name(r.dtype)));
      }
      p.sum = sums[k].fns;
      p.moments = sums[k].moments;
      p.squares = sums[k].squares;
      p.computed = sums[k].computed;
      p.is_uniform = sums[k].is_uniform;
      p.input = placed(sums[k].a, slots);
      p.log_input = static_cast<std::int8_t>(log_bytes(sums[k].a));
      if (p.is_uniform) {
        p.second = beside(sums[k].b, out);
      } else if (sums[k].b != kNoValue) {
        p.second = placed(sums[k].b, slots);
      }
      p.result = values_.slot[static_cast<std::size_t>(r.result)];
      p.log_bytes = static_cast<std::int8_t>(log_bytes(r.result));
      out.reductions.push_back(p);
    }
    out.body_work = static_cast<std::int64_t>(out.body.size() + out.reductions.size());
    const bool one_row = !plan_->columns && plan_->block == 1;
    join_chains(*plan_, out.body, made, [&](Slot slot) {
      return is_pinned(*plan_, slot) || (one_row && std::any_of(out.broadcasts.begin(), out.broadcasts.end(),
                                                                [&](const Broadcast& b) { return b.to == slot; }));
    });
    find_uniform_values(out, plan_->chains);
  }

  void lower_instr(const Instr& in, std::vector<TileStep>& steps, const std::vector<Slot>& slots, bool inner) {
    if (in.result != kNoValue && values_.pinned[static_cast<std::size_t>(in.result)]) return;
    TileStep step;
    const auto slot = [&](ValueId v) { return v == kNoValue ? Slot{0} : placed(v, slots); };
    step.a = slot(in.a);
    step.b = slot(in.b);
    step.c = slot(in.c);
    step.dst = slot(in.result);
    step.log_bytes = static_cast<std::int8_t>(in.result == kNoValue ? 2 : log_bytes(in.result));
    const auto walk = [&](const Access& access) {
      return inner ? AccessWalker(access, program_.outer.size(), plan_->columns)
                   : AccessWalker(access, plan_->grid_split, false);
    };
    switch (in.code) {
      case Code::Elementwise:
        if (is_patch(in)) {
          add_patch(in, walk, step);
          break;
        }
        element_step(in, program_.name, table_,
                     in.b != kNoValue && one_number(in.b, inner) && (in.c == kNoValue || one_number(in.c, inner)),
                     step);
        break;
      case Code::Round:
        step.element = in.from == DType::float16 ? table_.round_float16 : table_.round_bfloat16;
        break;
      case Code::Const:
        step.kind = StepKind::Fill;
        step.constant = tables_.add_constant(in.aux, in.dtype);
        break;
      case Code::Gather:
        add_gather(in, step);
        break;
      case Code::Load:
      case Code::Store:
      case Code::Index:
      case Code::Valid: {
        const Access& access = program_.accesses[static_cast<std::size_t>(in.aux)];
        step.kind = in.code == Code::Load    ? StepKind::Load
                    : in.code == Code::Store ? StepKind::Store
                    : in.code == Code::Index ? StepKind::Index
                                             : StepKind::Valid;
        step.access = tables_.add_access(access, walk(access), in.code == Code::Store);
        break;
      }
    }
    step.starts = is_start(in.result);
    const bool once = in.result != kNoValue && values_.repeated[static_cast<std::size_t>(in.result)];
    (once ? plan_->repeated : steps).push_back(step);
  }

  bool is_start(ValueId v) const { return v != kNoValue && lookups_.starts[static_cast<std::size_t>(v)]; }

  void add_gather(const Instr& in, TileStep& step) {
    const Lookup& found = lookups_.found[static_cast<std::size_t>(lookups_.of[static_cast<std::size_t>(in.result)])];
    Gather g;
    std::vector<ValueId> values{in.a};
    const auto number = [&](ValueId v) {
      return v == kNoValue ? 0 : static_cast<std::int32_t>(std::ranges::find(values, v) - values.begin());
    };
    for (const Instr& s : found.steps) {
      if (s.code == Code::Const)
        g.steps.push_back({Op::Const, tables_.add_constant(s.aux, s.dtype)});
      else
        g.steps.push_back({s.code == Code::Load ? Op::Buffer : s.op, number(s.a), number(s.b), number(s.c)});
      values.push_back(s.result);
    }
    const Access& access = program_.accesses[static_cast<std::size_t>(in.aux)];
    g.access = tables_.add_access(access, AccessWalker(access, 0, false), false);
    g.width = found.rows ? program_.outer.back().value() : 1;
    g.column = found.column;
    g.wide = program_.values[static_cast<std::size_t>(in.a)] == DType::int64;
    g.rest = in.b != kNoValue;
    g.rows = found.rows;
    g.key_starts = is_start(in.a);
    g.rest_starts = is_start(in.b);
    step.kind = StepKind::Gather;
    step.chain = static_cast<std::int32_t>(plan_->gathers.size());
    plan_->gathers.push_back(std::move(g));
  }

  template <class Walk>
  void add_patch(const Instr& in, const Walk& walk, TileStep& step) {
    const PatchParts& parts = patched_.patches[static_cast<std::size_t>(in.aux)];
    Patch patch;
    patch.based = in.a != kNoValue;
    patch.whole = parts.whole;
    for (const std::int32_t aux : parts.accesses) {
      const Access& access = program_.accesses[static_cast<std::size_t>(aux)];
      patch.loads.push_back(tables_.add_access(access, walk(access), false));
    }
    step.kind = StepKind::Patch;
    step.chain = static_cast<std::int32_t>(plan_->patches.size());
    plan_->patches.push_back(std::move(patch));
  }

  /// The slot of a number for each outer point that loops read beside their tile: it is not spread over the tile.
  Slot beside(ValueId v, TileStage& out) {
    const Slot from = placed(v, values_.slot);
    if (values_.pinned[static_cast<std::size_t>(v)]) return from;
    Broadcast b;
    b.from = from;
    b.to = tables_.new_slot(plan_->offsets[static_cast<std::size_t>(from)]);
    b.log_bytes = static_cast<std::int8_t>(log_bytes(v));
    out.broadcasts.push_back(b);
    return b.to;
  }

  SummedRows summed_rows(const TileStage& stage) const {
    if (frame_ != nullptr) return SummedRows::None;
    if (plan_->columns) return SummedRows::Columns;
    if (rows_ > 0) return SummedRows::Given;
    const bool whole = stage.step == stage.points;
    if (plan_->block == 1) return whole || stage.step % isa::kBlock == 0 ? SummedRows::One : SummedRows::None;
    return whole && stage.points >= kShortestSummed && stage.points <= isa::kBlock ? SummedRows::Several
                                                                                   : SummedRows::None;
  }

  /// Is v one number in all of a tile's registers?
  bool one_number(ValueId v, bool inner) const {
    const auto i = static_cast<std::size_t>(v);
    return values_.pinned[i] || (inner && values_.outer[i] && !plan_->columns && plan_->block == 1);
  }

  const LoopProgram& program_;
  const isa::Table& table_;
  std::shared_ptr<Plan> plan_;
  std::int64_t wanted_tile_;
  const TileFrame* frame_;
  std::int64_t rows_;  // of a row plan
  const Lookups lookups_;
  const PatchedStages patched_;
  const std::vector<Stage> stages_;  // those of patched_, with chains in order
  const std::vector<int> readers_;   // by value
  std::int64_t tile_length_ = 1;
  PlanTables tables_;
  ValueSlots values_;
};

}  // namespace

std::shared_ptr<Plan> make_tile_plan(const LoopProgram& program, const isa::Table& table, std::int64_t tile,
                                     std::int64_t rows) {
  return Planner(program, table, tile, nullptr, rows).run();
}

FramedPlan make_framed_plan(const LoopProgram& program, const isa::Table& table, const TileFrame& frame) {
  Planner planner(program, table, 0, &frame);
  FramedPlan out;
  out.plan = planner.run();
  out.slot = planner.slot_of(frame.given != kNoValue ? frame.given : frame.wanted);
  return out;
}

}  // namespace oriel::backend::eigen
