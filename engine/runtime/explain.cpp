#include "runtime/explain.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>

#include <fmt/format.h>

#include "base/by_use.hpp"
#include "base/context.hpp"
#include "base/escape.hpp"
#include "base/fork_lock.hpp"
#include "base/settings.hpp"
#include "base/watch.hpp"
#include "codegen/expression.hpp"
#include "codegen/stack.hpp"
#include "oriel/error.hpp"
#include "runtime/caches.hpp"
#include "runtime/key.hpp"
#include "schedule/describe.hpp"
#include "schedule/rule_switches.hpp"

namespace oriel::runtime {

using graph::NodePtr;

namespace {

std::vector<View> views_of(const ShapeTracker& tracker) { return {tracker.views().begin(), tracker.views().end()}; }

std::string memory_of(const Plan& plan, const ArgumentSource& source) {
  switch (source.kind) {
    case ArgumentSource::Kind::Leaf:
      return fmt::format("leaf {}", source.index);
    case ArgumentSource::Kind::Output:
      return fmt::format("output {}", source.index);
    case ArgumentSource::Kind::Temporary:
      return fmt::format("block {}", plan.memory.block_of[static_cast<std::size_t>(source.index)]);
  }
  return {};
}

std::string domain_after(const codegen::LoopProgram& program) {
  std::string text = to_string(program.outer);
  for (const codegen::Stage& s : program.stages) {
    if (s.inner.empty()) continue;
    text += s.columns.empty() ? " | " : " | " + to_string(s.columns) + " by ";
    text += to_string(s.inner);
  }
  return text;
}

// The purpose of an access. Index and Valid have no buffer; the instruction that uses them tells them apart.
std::vector<ExplainedOperand::Kind> kinds_of(const codegen::LoopProgram& program) {
  using Kind = ExplainedOperand::Kind;
  std::vector<Kind> kinds(program.accesses.size(), Kind::load);
  for (const codegen::Stage& s : program.stages) {
    for (const auto* list : {&s.body, &s.outer}) {
      for (const codegen::Instr& i : *list) {
        if (i.code == codegen::Code::Store) kinds[static_cast<std::size_t>(i.aux)] = Kind::store;
        if (i.code == codegen::Code::Index) kinds[static_cast<std::size_t>(i.aux)] = Kind::index;
        if (i.code == codegen::Code::Valid) kinds[static_cast<std::size_t>(i.aux)] = Kind::valid;
      }
    }
  }
  // A program that sorts or scans has no instructions: classify its accesses by their arguments.
  for (std::size_t a = 0; codegen::runs_alone(program) && a < kinds.size(); ++a)
    if (program.arguments[static_cast<std::size_t>(program.accesses[a].buffer)].output) kinds[a] = Kind::store;
  return kinds;
}

// What a kernel stores. A part that is not the last stores the requested values; its other outputs are kept rows.
void explain_outputs(const Plan& plan, const PlannedKernel& planned, schedule::KernelId member, ExplainedKernel& out) {
  const schedule::Arena& arena = *plan.arena;
  for (const schedule::Output& o : plan.graph.kernels[static_cast<std::size_t>(member)].outputs) {
    const std::string text = schedule::value_text(arena, o.entry);
    const auto& bindings = planned.lowered.bindings;
    const schedule::FusedKernels* fused = plan.graph.fused_with(member);
    const bool stored = fused == nullptr || std::any_of(bindings.begin(), bindings.end(),
                                                        [&](const auto& b) { return b.entry == o.entry && !b.leaf; });
    if (!stored) {
      out.rows.push_back(fmt::format("{}: {}", text, fused->reason));
      continue;
    }
    const schedule::Write* write = plan.graph.writes.of(o.entry);
    const schedule::EntryId taken = plan.graph.donor_of(o.entry);
    const auto other = std::find_if(
        plan.graph.other_dtypes.begin(), plan.graph.other_dtypes.end(),
        [&](const std::pair<schedule::EntryId, schedule::EntryId>& pair) { return pair.first == o.entry; });
    out.outputs.push_back({schedule::value_name(o.entry), text, schedule::site_text(arena[o.entry].node->site),
                           o.reason,
                           taken != schedule::kNone ? "over " + schedule::value_name(taken) + ", which ends here"
                           : other != plan.graph.other_dtypes.end()
                               ? fmt::format("not over {}, which ends here: its elements are {}, and memory is reused "
                                             "for one dtype only",
                                             schedule::value_name(other->second), name(arena[other->second].dtype))
                           : write == nullptr ? std::string()
                                              : write->note});
  }
}

void explain_path(const backend::PathReport& report, ExplainedKernel& out) {
  out.path = backend::text(report.path);
  std::vector<std::string> told;
  for (const backend::KernelPath part : report.parts) {
    std::string text = backend::text(part);
    if (std::find(told.begin(), told.end(), text) == told.end()) told.push_back(text);
  }
  for (std::size_t k = 0; k < told.size(); ++k) out.path += (k == 0 ? ": " : ", ") + told[k];
  out.estimated_nanoseconds = report.nanoseconds;
}

ExplainedKernel explain_kernel(const Plan& plan, const PlannedKernel& planned, bool texts) {
  const schedule::Arena& arena = *plan.arena;
  ExplainedKernel out;
  out.runs = planned.runs;
  out.device = planned.device;
  out.copied_from = planned.copied_from;
  const schedule::FusedKernels* fused = plan.graph.fused_with(planned.id);
  const std::vector<schedule::KernelId> members =
      fused != nullptr ? fused->kernels : std::vector<schedule::KernelId>{planned.id};
  for (const schedule::KernelId member : members) explain_outputs(plan, planned, member, out);
  if (!planned.runs) {
    out.name = "nothing";
    return out;
  }
  const codegen::LoweredKernel& lowered = planned.lowered;
  const codegen::LoopProgram& program = lowered.program;
  out.name = program.name;
  std::map<schedule::KernelId, schedule::Paths> paths;
  for (const schedule::KernelId member : members) {
    const schedule::Kernel& kernel = plan.graph.kernels[static_cast<std::size_t>(member)];
    for (const schedule::HeldValue& v : schedule::held_values(arena, kernel)) {
      out.values.push_back(schedule::value_text(arena, v.entry));
      if (v.places > 1) out.values.back() += fmt::format(" (at {} places)", v.places);
    }
    paths.emplace(std::piecewise_construct, std::forward_as_tuple(member),
                  std::forward_as_tuple(arena, plan.graph, member));
  }
  const std::vector<ExplainedOperand::Kind> kinds = kinds_of(program);
  for (std::size_t a = 0; a < program.accesses.size(); ++a) {
    const codegen::Access& access = program.accesses[a];
    const codegen::AccessNote& note = lowered.notes[a];
    ExplainedOperand operand;
    operand.kind = kinds[a];
    operand.value = schedule::value_name(note.entry);
    operand.dtype = access.dtype;
    if (access.buffer >= 0) {
      const auto argument = static_cast<std::size_t>(access.buffer);
      operand.name = program.arguments[argument].name;
      operand.memory = program.arguments[argument].local ? "cache" : memory_of(plan, planned.arguments[argument]);
    }
    schedule::Path path = paths.at(note.kernel).to(note.entry, note.scope, note.map);
    operand.steps = std::move(path.steps);
    operand.written = std::move(path.views);
    operand.merged = views_of(plan.graph.maps[note.map]);
    operand.normalised = views_of(codegen::stack_of(access));
    // The loop program's names, so that the two can be read side by side.
    codegen::AccessText text = codegen::expression(access, codegen::access_names(program, a));
    operand.index = std::move(text.index);
    operand.valid = std::move(text.valid);
    out.operands.push_back(std::move(operand));
  }
  out.domain_before = lowered.domain_before;
  out.domain_after = domain_after(program);
  out.refined = lowered.change.refined;
  out.permuted = lowered.change.permuted;
  out.coalesced = lowered.change.coalesced;
  out.flops = program.flops;
  out.bytes = program.bytes;
  if (planned.copied_from) {
    out.method = fmt::format("{} bytes from {} to {}", planned.bytes, planned.copied_from->str(), out.device.str());
    return out;
  }
  const backend::Backend& backend = backend::backend_for(planned.device);
  out.method = backend.method(program);
  explain_path(backend.paths(program), out);
  if (texts) {
    out.program = codegen::to_string(program);
    out.source = backend.source(program);
  }
  return out;
}

}  // namespace

Explanation explain(const Plan& plan, bool texts) {
  Explanation out;
  out.device = plan.arena->home();
  for (std::size_t i = 0; i < plan.arena->size(); ++i)
    if (!plan.graph.uses[i].empty() || plan.graph.stored_by[i] >= 0) ++out.values;
  out.view_merges = {plan.view_merges.merges, plan.view_merges.searches, plan.view_merges.unknown};
  for (const auto& [name, times] : plan.arena->fired()) {
    FiredRule& fired = out.rules.emplace_back(FiredRule{name, times});
    for (const auto& [rule, reason] : plan.arena->reasons())
      if (rule == name) fired.reasons.push_back(reason);
  }
  const auto& fused = plan.graph.fused;
  const auto online =
      std::count_if(fused.begin(), fused.end(), [](const schedule::FusedKernels& j) { return j.online; });
  for (const auto& [rule, times] :
       {std::pair{schedule::KernelRule::FuseRows, static_cast<std::ptrdiff_t>(fused.size())},
        std::pair{schedule::KernelRule::OnlineSoftmax, online}})
    if (times > 0) out.rules.push_back({std::string(schedule::name(rule)), static_cast<int>(times)});
  for (const PlannedKernel& k : plan.kernels) out.kernels.push_back(explain_kernel(plan, k, texts));
  out.memory.block_bytes = plan.memory.block_bytes;
  out.memory.block_device = plan.memory.block_device;
  out.memory.peak_bytes = plan.memory.peak_bytes;
  out.memory.bytes_without_reuse = plan.memory.unshared_bytes;
  for (const PlannedOutput& o : plan.outputs) out.memory.output_bytes += o.bytes;
  return out;
}

namespace {

/// What ran last in a context. Guarded by ForkLock::profile.
struct LastExplanation : base::ContextPart {
  std::optional<Explanation> explanation;
};

LastExplanation& last_explanation(base::ContextState& context) {
  return context.part<LastExplanation>(base::ContextSlot::explained,
                                       [] { return std::make_unique<LastExplanation>(); });
}

}  // namespace

Explanation explain(std::span<const NodePtr> pending, const Key& key, const PlanSeen& seen) {
  const Plan plan = make_plan(pending, key, limits_of(key));
  Explanation out = explain(plan, true);
  out.nodes = key.order.size();
  for (std::size_t k = 0; k < plan.kernels.size(); ++k) {
    const codegen::LoopProgram& program = plan.kernels[k].lowered.program;
    if (!out.kernels[k].runs || out.kernels[k].copied_from) continue;
    const backend::Backend& backend = backend::backend_for(out.kernels[k].device);
    const auto made = caches_of(out.kernels[k].device.context).kernels.find(backend, program);
    out.kernels[k].tier = backend.tier(program, made.get());
    if (made != nullptr) out.kernels[k].report = backend.report(*made);
  }
  if (seen) seen(out, plan);
  return out;
}

Explanation explain(std::span<const NodePtr> roots, const PlanSeen& seen) {
  by_use::inspection();
  const KeySnapshot looked(roots, BesideRoots::all);
  if (!looked.pending.empty()) return explain(looked.pending, looked.key, seen);
  Explanation nothing;
  if (roots.empty()) return nothing;
  nothing.device = roots.front()->device;
  base::ContextState* const context = base::find_context(nothing.device.context);
  if (context == nullptr || !base::watch_of(*context).explaining()) return nothing;
  const std::lock_guard guard(base::fork_mutex(base::ForkLock::profile, context->number()));
  const std::optional<Explanation>& last = last_explanation(*context).explanation;
  return last ? *last : nothing;
}

void keep_explanation(std::span<const NodePtr> pending, const Key& key) {
  base::ContextState* const context = base::find_context(pending.front()->device.context);
  if (context == nullptr) return;
  std::optional<Explanation> made = explain(pending, key);
  made->ran = true;
  const std::lock_guard guard(base::fork_mutex(base::ForkLock::profile, context->number()));
  last_explanation(*context).explanation.swap(made);
}

void load_kept_explanations(base::ContextState& context) {
  if (base::watch_of(context).has(base::Watch::kExplainKnown)) return;
  const std::lock_guard guard(base::fork_mutex(base::ForkLock::settings));
  const std::string text = base::env_text("ORIEL_EXPLAIN").value_or("0");
  if (text != "0" && text != "1")
    throw ArgumentError("ORIEL_EXPLAIN", fmt::format("\"{}\" is neither 0 (off) nor 1 (on)", base::escaped(text)));
  base::begin_watch(context, base::Watch::kExplainKnown, text == "1" ? base::Watch::kExplain : 0);
}

}  // namespace oriel::runtime

namespace oriel {

void keep_explanations(bool keep) {
  by_use::inspection();
  base::change_watch(base::current_context_state(), base::Watch::kExplain,
                     (keep ? base::Watch::kExplain : 0) | base::Watch::kExplainKnown);
}

}  // namespace oriel
