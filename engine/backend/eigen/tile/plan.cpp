#include "backend/eigen/tile/plan.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <map>

#include "backend/eigen/tile/chains.hpp"
#include "backend/eigen/tile/element_step.hpp"
#include "backend/eigen/tile/look_ahead.hpp"
#include "backend/eigen/tile/pair_ops.hpp"
#include "backend/eigen/tile/pair_stores.hpp"
#include "backend/eigen/tile/reach.hpp"
#include "backend/eigen/tile/registers.hpp"
#include "backend/eigen/tile/row_sums.hpp"
#include "backend/eigen/tile/tiles.hpp"
#include "codegen/keep.hpp"
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

namespace {

// More constants than this are filled where they are used, so that their registers do not push out the others.
constexpr std::size_t kMaxPinned = 24;

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
        stages_(pair_ops(program, table, frame == nullptr ? kNoValue : frame->wanted)) {}

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
    // One output over an input is stored last. Several may each overwrite what another is about to store.
    copied_inputs_ = std::count_if(program_.arguments.begin(), program_.arguments.end(),
                                   [](const codegen::Argument& a) { return a.shares >= 0; }) > 1;
    overwritten_.assign(program_.arguments.size(), false);
    for (const codegen::Argument& a : program_.arguments)
      if (a.shares >= 0) overwritten_[static_cast<std::size_t>(a.shares)] = true;
    value_slot_.assign(program_.values.size(), kNone);
    outer_value_.assign(program_.values.size(), false);
    if (frame_ != nullptr) {
      lay_frame();
    } else {
      Tiler tiler(program_, *plan_);
      tile_length_ = rows_ > 0 ? tiler.lay_rows(rows_, wanted_tile_) : tiler.run(wanted_tile_);
    }
    find_lives();
    plan_outer_values();
    plan_kept_values();
    lower();
    look_ahead(program_, *plan_);
    plan_reductions();
    plan_->arena_bytes = (plan_->arena_bytes + 63) / 64 * 64;
    plan_->work = work();
    return plan_;
  }

  Slot slot_of(ValueId v) const { return value_slot_[static_cast<std::size_t>(v)]; }

 private:
  static constexpr Slot kNone = -1;

  [[noreturn]] void refuse(const std::string& why) const {
    throw DeviceError("compile", "kernel " + program_.name + " on eigen: " + why);
  }

  int log_bytes(ValueId v) const { return log_bytes_of(program_.values[static_cast<std::size_t>(v)]); }

  void lay_frame() {
    plan_->block = tile_length_ = frame_->tile;
    plan_->pinned_length = (frame_->tile + isa::kPacket - 1) / isa::kPacket * isa::kPacket;
    plan_->grid_split = frame_->split;
    plan_->stages.resize(stages_.size());
  }

  // --- lives --------------------------------------------------------------------------------------------------------

  // Time runs through the program: stage s's loops are one moment, then each of its outer instructions is one.
  void find_lives() {
    last_use_.assign(program_.values.size(), -1);
    std::int64_t now = 0;
    const auto use = [&](ValueId v) {
      if (v != kNoValue) last_use_[static_cast<std::size_t>(v)] = now;
    };
    for (const Stage& stage : stages_) {
      ++now;
      for (const Instr& in : stage.body) {
        use(in.a);
        use(in.b);
        use(in.c);
      }
      for (const codegen::Reduction& r : stage.reductions) {
        use(r.input);
        outer_value_[static_cast<std::size_t>(r.result)] = true;
        last_use_[static_cast<std::size_t>(r.result)] = now;
      }
      for (const Instr& in : stage.outer) {
        ++now;
        use(in.a);
        use(in.b);
        use(in.c);
        if (in.result != kNoValue) {
          outer_value_[static_cast<std::size_t>(in.result)] = true;
          last_use_[static_cast<std::size_t>(in.result)] = now;
        }
      }
    }
    if (frame_ != nullptr && frame_->wanted != kNoValue) {
      last_use_[static_cast<std::size_t>(frame_->wanted)] = std::numeric_limits<std::int64_t>::max();
    }
  }

  Slot new_slot(std::int64_t offset) {
    plan_->offsets.push_back(offset);
    return static_cast<Slot>(plan_->offsets.size()) - 1;
  }

  /// Slot of a pinned register, or kNone where the instruction needs its own.
  Slot pin(const Instr& in) {
    if (in.code == Code::Const) {
      const std::pair<std::int32_t, int> key{in.aux, index(in.dtype)};
      if (const auto found = pinned_constants_.find(key); found != pinned_constants_.end()) return found->second;
      if (plan_->pinned.size() >= kMaxPinned) return kNone;
      return pinned_constants_[key] = add_pinned(log_bytes_of(in.dtype), add_constant(in.aux, in.dtype), -1);
    }
    if (in.code == Code::Load) {
      const Access& access = program_.accesses[static_cast<std::size_t>(in.aux)];
      if (!access.affine() || plan_->pinned.size() >= kMaxPinned) return kNone;
      AccessWalker walk(access, 0, false);
      if (!walk.uniform()) return kNone;
      return add_pinned(log_bytes_of(in.dtype), -1, add_reach(access, std::move(walk), false));
    }
    return kNone;
  }

  Slot add_pinned(int log_bytes, std::int32_t constant, std::int32_t reach) {
    Pinned p;
    p.slot = new_slot(plan_->arena_bytes);
    p.log_bytes = static_cast<std::int8_t>(log_bytes);
    p.constant = constant;
    p.reach = reach;
    plan_->arena_bytes += Registers::bytes(plan_->pinned_length, log_bytes);
    plan_->pinned.push_back(p);
    return p.slot;
  }

  std::int32_t add_constant(std::int32_t aux, DType dtype) {
    const codegen::Constant& constant = program_.constants[static_cast<std::size_t>(aux)];
    ConstantPlan c;
    c.value = constant.value;
    c.dtype = dtype;
    c.parameter = constant.parameter;
    plan_->constants.push_back(c);
    plan_->constant_bytes.push_back(constant.parameter >= 0 ? 0 : register_bytes(constant.value, dtype));
    return static_cast<std::int32_t>(plan_->constants.size()) - 1;
  }

  std::int32_t add_reach(const Access& access, AccessWalker walk, bool store) {
    const bool overwritten = access.buffer >= 0 && overwritten_[static_cast<std::size_t>(access.buffer)];
    plan_->reaches.push_back(make_reach(program_, table_, access, std::move(walk), store, overwritten));
    MemoryAccess& r = plan_->reaches.back();
    r.slack = r.slack && frame_ == nullptr;
    r.own = r.own && copied_inputs_;
    plan_->streams = plan_->streams || r.stream;
    return static_cast<std::int32_t>(plan_->reaches.size()) - 1;
  }

  // Registers of outer values: `block` elements each, alive over stages.
  void plan_outer_values() {
    for (const Stage& stage : stages_) {
      for (const std::vector<Instr>* list : {&stage.body, &stage.outer}) {
        for (const Instr& in : *list) {
          if (in.result != kNoValue) value_slot_[static_cast<std::size_t>(in.result)] = pin(in);
        }
      }
    }
    pinned_value_.assign(program_.values.size(), false);
    for (std::size_t v = 0; v < value_slot_.size(); ++v) pinned_value_[v] = value_slot_[v] != kNone;

    Registers registers(plan_->arena_bytes, plan_->block);
    std::multimap<std::int64_t, ValueId> ends;
    const auto take = [&](ValueId v) {
      const auto i = static_cast<std::size_t>(v);
      if (pinned_value_[i]) return;
      value_slot_[i] = new_slot(registers.take(log_bytes(v)));
      ends.emplace(last_use_[i], v);
    };
    const auto release_until = [&](std::int64_t now) {
      while (!ends.empty() && ends.begin()->first <= now) {
        const ValueId v = ends.begin()->second;
        registers.give(plan_->offsets[static_cast<std::size_t>(value_slot_[static_cast<std::size_t>(v)])],
                       log_bytes(v));
        ends.erase(ends.begin());
      }
    };
    if (frame_ != nullptr && frame_->given != kNoValue) take(frame_->given);
    std::int64_t now = 0;
    for (const Stage& stage : stages_) {
      ++now;
      // Results are written while the loops still read their operands: they come first.
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
    plan_->arena_bytes = registers.end();
  }

  void plan_kept_values() {
    kept_.assign(program_.values.size(), false);
    for (const ValueId v : codegen::kept_values(program_)) {
      const auto i = static_cast<std::size_t>(v);
      if (pinned_value_[i]) continue;
      for (std::size_t s = 0; s < stages_.size() && value_slot_[i] == kNone; ++s) {
        const std::vector<Instr>& body = stages_[s].body;
        if (std::none_of(body.begin(), body.end(), [&](const Instr& in) { return in.result == v; })) continue;
        const StagePlan& stage = plan_->stages[s];
        kept_[i] = plan_->keeps = true;
        value_slot_[i] = new_slot(plan_->arena_bytes);
        plan_->arena_bytes +=
            (stage.points + stage.step - 1) / stage.step * Registers::bytes(tile_length_, log_bytes(v));
      }
    }
  }

  // --- instructions -------------------------------------------------------------------------------------------------

  void lower() {
    std::int64_t most = plan_->arena_bytes;
    for (std::size_t s = 0; s < stages_.size(); ++s) {
      Registers registers(plan_->arena_bytes, tile_length_);
      lower_body(stages_[s], plan_->stages[s], registers);
      most = std::max(most, registers.end());
      StagePlan& stage = plan_->stages[s];
      std::vector<const Instr*> made;
      for (const Instr& in : stages_[s].outer) {
        lower_instr(in, stage.outer, value_slot_, false);
        if (made.size() < stage.outer.size()) made.push_back(&in);
      }
      stage.outer_work = static_cast<std::int64_t>(stage.outer.size());
      join_chains(*plan_, stage.outer, made, [&](Slot slot) { return is_pinned(slot); });
      pair_stores(program_, *plan_, copied_inputs_, stage.kept, stage.body);
      pair_stores(program_, *plan_, copied_inputs_, {}, stage.outer);
    }
    plan_->arena_bytes = most;
  }

  void lower_body(Stage stage, StagePlan& out, Registers& registers) {
    const std::vector<RowSum> sums =
        row_sums(stages_, table_, takes_row_sums(out), stage, [&](ValueId v) { return one_number(v, true); });
    std::vector<ValueId> summed;
    for (const RowSum& sum : sums) summed.insert(summed.end(), {sum.a, sum.b});
    // Outer values that the loops read are spread into registers that keep for the whole stage.
    std::vector<Slot> slots = value_slot_;
    const auto spread = [&](ValueId v) {
      const auto i = static_cast<std::size_t>(v);
      if (v == kNoValue || !outer_value_[i] || pinned_value_[i] || slots[i] != value_slot_[i]) return;
      Broadcast b;
      b.from = value_slot_[i];
      b.to = new_slot(registers.take(log_bytes(v)));
      b.log_bytes = static_cast<std::int8_t>(log_bytes(v));
      slots[i] = b.to;
      out.broadcasts.push_back(b);
    };
    for (const Instr& in : stage.body) {
      spread(in.a);
      spread(in.b);
      spread(in.c);
    }
    for (const ValueId v : summed) spread(v);

    const auto keep = [&](ValueId v) {
      if (v == kNoValue || !kept_[static_cast<std::size_t>(v)]) return;
      const Slot slot = value_slot_[static_cast<std::size_t>(v)];
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
      if (last[k] != i || outer_value_[k] || pinned_value_[k] || kept_[k]) return;
      registers.give(plan_->offsets[static_cast<std::size_t>(slots[k])], log_bytes(v));
      last[k] = -1;
    };
    std::vector<const Instr*> made;
    for (std::size_t n = 0; n < stage.body.size(); ++n) {
      const Instr& in = stage.body[n];
      const auto i = static_cast<std::int64_t>(n);
      const auto release_operands = [&] {
        release(in.a, i);
        release(in.b, i);
        release(in.c, i);
      };
      if (in.code == Code::Elementwise || in.code == Code::Round) release_operands();
      if (in.result != kNoValue && !pinned_value_[static_cast<std::size_t>(in.result)] &&
          !kept_[static_cast<std::size_t>(in.result)]) {
        slots[static_cast<std::size_t>(in.result)] = new_slot(registers.take(log_bytes(in.result)));
      }
      release_operands();
      if (in.result != kNoValue) release(in.result, i);
      lower_instr(in, out.body, slots, true);
      if (made.size() < out.body.size()) made.push_back(&in);
    }
    for (std::size_t k = 0; k < sums.size(); ++k) {
      const codegen::Reduction& r = stage.reductions[k];
      ReducePlan p;
      p.fns = &table_.reduce[isa::reduce_index(r.op)][index(r.dtype)];
      if (p.fns->accumulate == nullptr) {
        refuse("no " + std::string(graph::name(r.op)) + " of " + std::string(oriel::name(r.dtype)));
      }
      p.row = sums[k].row;
      p.number = sums[k].number;
      p.input = slots[static_cast<std::size_t>(sums[k].a)];
      if (sums[k].b != kNoValue) p.second = slots[static_cast<std::size_t>(sums[k].b)];
      p.result = value_slot_[static_cast<std::size_t>(r.result)];
      p.log_bytes = static_cast<std::int8_t>(log_bytes(r.result));
      out.reductions.push_back(p);
    }
    out.body_work = static_cast<std::int64_t>(out.body.size() + out.reductions.size());
    const bool one_row = !plan_->columns && plan_->block == 1;
    join_chains(*plan_, out.body, made, [&](Slot slot) {
      return is_pinned(slot) || (one_row && std::any_of(out.broadcasts.begin(), out.broadcasts.end(),
                                                        [&](const Broadcast& b) { return b.to == slot; }));
    });
    find_numbers(out, plan_->chains);
  }

  void lower_instr(const Instr& in, std::vector<TileStep>& steps, const std::vector<Slot>& slots, bool inner) {
    if (in.result != kNoValue && pinned_value_[static_cast<std::size_t>(in.result)]) return;
    TileStep step;
    const auto slot = [&](ValueId v) { return v == kNoValue ? Slot{0} : slots[static_cast<std::size_t>(v)]; };
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
        element_step(in, program_.name, table_,
                     in.b != kNoValue && one_number(in.b, inner) && (in.c == kNoValue || one_number(in.c, inner)),
                     step);
        break;
      case Code::Round:
        step.element = in.from == DType::float16 ? table_.round_float16 : table_.round_bfloat16;
        break;
      case Code::Const:
        step.kind = StepKind::Fill;
        step.constant = add_constant(in.aux, in.dtype);
        break;
      case Code::Load:
      case Code::Gather:
      case Code::Store:
      case Code::Index:
      case Code::Valid: {
        const Access& access = program_.accesses[static_cast<std::size_t>(in.aux)];
        step.kind = in.code == Code::Load     ? StepKind::Load
                    : in.code == Code::Gather ? StepKind::Gather
                    : in.code == Code::Store  ? StepKind::Store
                    : in.code == Code::Index  ? StepKind::Index
                                              : StepKind::Valid;
        step.reach = add_reach(access, walk(access), in.code == Code::Store);
        break;
      }
    }
    steps.push_back(step);
  }

  bool is_pinned(Slot slot) const {
    return std::any_of(plan_->pinned.begin(), plan_->pinned.end(), [&](const Pinned& p) { return p.slot == slot; });
  }

  /// Do the tiles hold whole blocks of one row?
  bool takes_row_sums(const StagePlan& stage) const {
    return frame_ == nullptr && !plan_->columns && plan_->block == 1 &&
           (stage.step % isa::kBlock == 0 || stage.step == stage.points);
  }

  /// Is v one number in all of a tile's registers?
  bool one_number(ValueId v, bool inner) const {
    const auto i = static_cast<std::size_t>(v);
    return pinned_value_[i] || (inner && outer_value_[i] && !plan_->columns && plan_->block == 1);
  }

  // --- reductions ---------------------------------------------------------------------------------------------------

  void plan_reductions() {
    std::int64_t most = plan_->arena_bytes;
    for (StagePlan& stage : plan_->stages) {
      std::int64_t at = plan_->arena_bytes;
      std::int64_t levels = 2;
      for (std::int64_t blocks = stage.points / isa::kBlock + 1; blocks > 0; blocks /= 2) ++levels;
      for (ReducePlan& r : stage.reductions) {
        r.accumulator = at;
        at += Registers::bytes(isa::kLanes * plan_->block, r.log_bytes);
        r.waiting = at;
        at += Registers::bytes(levels * plan_->block, r.log_bytes);
      }
      most = std::max(most, at);
    }
    plan_->arena_bytes = most;
  }

  double work() const {
    double sum = 0;
    for (const StagePlan& stage : plan_->stages) {
      const auto points = static_cast<double>(plan_->points);
      if (stage.loops) sum += points * static_cast<double>(stage.points) * static_cast<double>(stage.body_work);
      sum += points * static_cast<double>(stage.outer_work);
    }
    return sum;
  }

  const LoopProgram& program_;
  const isa::Table& table_;
  std::shared_ptr<Plan> plan_;
  std::vector<bool> overwritten_;  // by argument: an output is stored over it
  std::int64_t wanted_tile_;
  const TileFrame* frame_;
  std::int64_t rows_;                // of a row plan
  const std::vector<Stage> stages_;  // the program's, with operations in pairs
  std::int64_t tile_length_ = 1;
  bool copied_inputs_ = false;
  std::vector<Slot> value_slot_;
  std::vector<bool> outer_value_;
  std::vector<bool> pinned_value_;
  std::vector<bool> kept_;
  std::vector<std::int64_t> last_use_;
  std::map<std::pair<std::int32_t, int>, Slot> pinned_constants_;
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
