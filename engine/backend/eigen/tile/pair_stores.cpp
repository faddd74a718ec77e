#include "backend/eigen/tile/pair_stores.hpp"

#include <algorithm>
#include <map>

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
    const bool computes = step.kind == StepKind::Compute || step.kind == StepKind::Chain;
    if (computes && !stays(step.dst)) writer[step.dst] = i;
    if (step.kind != StepKind::Store) continue;
    const auto found = writer.find(step.a);
    if (found == writer.end()) continue;
    const MemoryAccess& r = plan.accesses[static_cast<std::size_t>(step.access)];
    if (steps[found->second].access < 0 && r.same && !r.stream &&
        !overwrites_early(program, plan, copied_inputs, steps, found->second, i)) {
      steps[found->second].access = step.access;
    }
  }
}

}  // namespace oriel::backend::eigen
