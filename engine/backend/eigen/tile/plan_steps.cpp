#include "backend/eigen/tile/plan_steps.hpp"

#include <algorithm>
#include <map>

#include "backend/eigen/tile/processor.hpp"
#include "backend/eigen/tile/tiles.hpp"
#include "oriel/error.hpp"

namespace oriel::backend::eigen {

namespace {

std::vector<Slot> registers_read(const Plan& plan, const TileStep& step) {
  if (step.kind != StepKind::Chain) return {step.a, step.b, step.c};
  const Chain& chain = plan.chains[static_cast<std::size_t>(step.chain)];
  std::vector<Slot> slots{chain.first};
  for (const Chain::Item& item : chain.items) {
    slots.push_back(item.x);
    if (item.y >= 0) slots.push_back(item.y);
  }
  return slots;
}

std::ptrdiff_t count_reads(const Plan& plan, const std::vector<TileStep>& steps, Slot slot) {
  return std::ranges::count_if(steps, [&](const TileStep& step) {
    const std::vector<Slot> read = registers_read(plan, step);
    return std::ranges::find(read, slot) != read.end();
  });
}

// Suppose step `writer` already writes the memory of `store`. Would this change memory that a later step still reads
// through a register that lies in that memory?
bool overwrites_early(const codegen::LoopProgram& program, const Plan& plan, bool copied_inputs,
                      const std::vector<TileStep>& steps, std::size_t writer, std::size_t store) {
  const auto buffer_of = [&](const TileStep& s) { return plan.accesses[static_cast<std::size_t>(s.access)].buffer; };
  const std::int32_t shared = program.arguments[static_cast<std::size_t>(buffer_of(steps[store]))].shares;
  if (shared < 0) return false;
  for (std::size_t i = writer + 1; i < steps.size(); ++i) {
    if (i == store) continue;
    if (steps[i].kind == StepKind::Load && buffer_of(steps[i]) == shared) return true;
    if (copied_inputs) continue;
    // Registers computed by earlier lists may lie in that memory too. Only registers computed by this list surely do
    // not.
    const auto here = steps.begin() + static_cast<std::ptrdiff_t>(i);
    for (const Slot read : registers_read(plan, steps[i])) {
      const auto made = std::find_if(steps.begin(), here,
                                     [&](const TileStep& s) { return s.kind != StepKind::Store && s.dst == read; });
      if (made == here || (made->kind == StepKind::Load && buffer_of(*made) == shared)) return true;
    }
  }
  return false;
}

}  // namespace

void pair_stores(const codegen::LoopProgram& program, const Plan& plan, bool copied_inputs,
                 const std::vector<Kept>& kept, std::vector<TileStep>& steps) {
  std::map<Slot, std::size_t> writer;
  const auto stays = [&](Slot slot) {
    return std::any_of(kept.begin(), kept.end(), [&](const Kept& k) { return k.slot == slot; });
  };
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const TileStep& step = steps[i];
    const bool computes = step.kind == StepKind::Compute || step.kind == StepKind::Chain ||
                          step.kind == StepKind::Patch || step.kind == StepKind::Gather;
    if (computes && !stays(step.dst)) writer[step.dst] = i;
    if (step.kind != StepKind::Store) continue;
    const auto found = writer.find(step.a);
    if (found == writer.end()) continue;
    const MemoryAccess& r = plan.accesses[static_cast<std::size_t>(step.access)];
    // The parts of a patch, and what is gathered, are read while it is written.
    const bool shares = program.arguments[static_cast<std::size_t>(r.buffer)].shares >= 0;
    const StepKind kind = steps[found->second].kind;
    if (shares && (kind == StepKind::Patch || kind == StepKind::Gather)) continue;
    // What is gathered is written to the end of the tile. Another reader would read to the end of a packet.
    if (kind == StepKind::Gather &&
        (program.stages.size() > 1 || !program.stages[0].reductions.empty() || count_reads(plan, steps, step.a) > 1))
      continue;
    if (steps[found->second].access < 0 && r.same && !r.stream &&
        !overwrites_early(program, plan, copied_inputs, steps, found->second, i)) {
      steps[found->second].access = step.access;
    }
  }
}

namespace {

// Inputs of this size do not fit a second-level cache.
constexpr std::int64_t kFetchBytes = std::int64_t{1} << 20;

}  // namespace

void look_ahead(const codegen::LoopProgram& program, Plan& plan) {
  if (plan.columns) return;
  std::map<std::int32_t, int> stages;  // number of stages so far that load a buffer
  std::map<std::int32_t, TileStep*> last;
  for (TileStage& stage : plan.stages) {
    for (TileStep& step : stage.body) {
      if (step.kind != StepKind::Load) continue;
      const MemoryAccess& r = plan.accesses[static_cast<std::size_t>(step.access)];
      if (program.arguments[static_cast<std::size_t>(r.buffer)].elements < kFetchBytes / r.bytes) continue;
      const int before = stages[r.buffer]++;
      if (before > 1) continue;
      TileStep*& first = last[r.buffer];
      if (before == 1 && first != nullptr) first->ahead = 0;
      if (before == 0 && processor().follows_streams) continue;
      step.ahead = (before == 1 ? stage.points : stage.step) * plan.block * r.bytes;
      first = &step;
    }
  }
}

using codegen::Instr;
using graph::Op;

void element_step(const Instr& in, const std::string& kernel, const isa::Table& table, bool by_numbers,
                  TileStep& step) {
  const auto refuse = [&](const std::string& why) {
    throw DeviceError("compile", "kernel " + kernel + " on eigen: " + why);
  };
  const DType from = register_dtype(in.from);
  if (in.op == Op::Div && from == DType::float32 && table.divide_by_one != nullptr && by_numbers) {
    step.element = table.divide_by_one;
    step.numbers = true;
    return;
  }
  if (in.op == Op::Bitcast) {
    step.kind = StepKind::Copy;
    const auto as = [](DType d) { return is_half(d) ? DType::uint16 : d; };
    if (is_half(in.from) && is_half(in.dtype) && in.from != in.dtype) {
      refuse("a bitcast between float16 and bfloat16 needs an integer between them");
    }
    if (is_half(in.from) && !is_half(in.dtype)) {
      step.copy = in.from == DType::float16 ? table.narrow_float16 : table.narrow_bfloat16;
    } else if (is_half(in.dtype) && !is_half(in.from)) {
      step.copy = in.dtype == DType::float16 ? table.widen_float16 : table.widen_bfloat16;
    } else if (in.dtype == DType::bool_ && in.from != DType::bool_) {
      // Whatever bits a bool came from, its byte must be 0 or 1.
      step.kind = StepKind::Compute;
      step.element = table.cast[index(in.from)][index(DType::bool_)];
    } else {
      step.copy = table.copy[step.log_bytes];
    }
    if (itemsize(as(in.from)) != itemsize(as(in.dtype))) refuse("a bitcast between widths");
    return;
  }
  if (in.op == Op::Cast) {
    step.element = table.cast[index(from)][index(register_dtype(in.dtype))];
    return;
  }
  const DType key = in.op == Op::Where ? register_dtype(in.dtype) : from;
  step.element = table.element[static_cast<int>(in.op)][index(key)];
  if (step.element == nullptr) {
    refuse("no " + std::string(graph::name(in.op)) + " of " + std::string(oriel::name(key)));
  }
}

}  // namespace oriel::backend::eigen
