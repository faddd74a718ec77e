#include "runtime/observe.hpp"

#include <fmt/format.h>

#include "runtime/dump.hpp"
#include "runtime/explain.hpp"
#include "runtime/profile.hpp"
#include "schedule/describe.hpp"

namespace oriel::runtime {

using base::Debug;
using base::debug_say;
using base::debugging;

namespace {

bool plan_lines_wanted() noexcept {
  return debugging(Debug::Graph) || debugging(Debug::Schedule) || debugging(Debug::Merge) ||
         debugging(Debug::Codegen) || debugging(Debug::Memory);
}

std::string title(const ExplainedKernel& k, std::size_t step) { return fmt::format("k{:02} {}\n", step, k.name); }

void say_graph(const Explanation& e, const Plan& plan) {
  debug_say(Debug::Graph,
            fmt::format("{} nodes became {} values on {}\n", e.nodes, e.values, e.device.str()) + rules_text(e.rules));
  if (!debugging(Debug::Graph, 2)) return;
  for (schedule::EntryId v = 0; v < static_cast<schedule::EntryId>(plan.arena->size()); ++v) {
    const auto i = static_cast<std::size_t>(v);
    if (!plan.graph.places[i].empty() || plan.graph.stored_by[i] >= 0)
      debug_say(Debug::Graph, schedule::value_text(*plan.arena, v));
  }
}

void say_kernels(const Explanation& e) {
  for (std::size_t step = 0; step < e.kernels.size(); ++step) {
    const ExplainedKernel& k = e.kernels[step];
    if (debugging(Debug::Schedule)) {
      debug_say(Debug::Schedule, title(k, step) + outputs_text(k));
      if (debugging(Debug::Schedule, 2))
        for (const std::string& v : k.values) debug_say(Debug::Schedule, "  holds " + v);
    }
    if (debugging(Debug::Merge) && k.runs) {
      debug_say(Debug::Merge, title(k, step));
      for (const ExplainedOperand& o : k.operands)
        debug_say(Debug::Merge, operand_text(o, debugging(Debug::Merge, 2) ? Detail::views : Detail::kernels));
    }
    if (debugging(Debug::Codegen) && k.runs) {
      debug_say(Debug::Codegen, title(k, step) + domain_text(k));
      if (debugging(Debug::Codegen, 2)) debug_say(Debug::Codegen, k.program);
      if (debugging(Debug::Codegen, 3)) debug_say(Debug::Codegen, k.source);
    }
  }
}

void say_memory(const Explanation& e) {
  debug_say(Debug::Memory, memory_text(e.memory));
  if (!debugging(Debug::Memory, 2)) return;
  for (std::size_t step = 0; step < e.kernels.size(); ++step) {
    for (const ExplainedOperand& o : e.kernels[step].operands)
      if (o.kind == ExplainedOperand::Kind::store)
        debug_say(Debug::Memory, fmt::format("k{:02} puts {} in {}", step, o.value, o.memory));
  }
}

}  // namespace

bool profiling() noexcept { return recording() || debugging(Debug::Launch); }

void record_launch(const LaunchStep& step, double seconds) {
  if (recording()) add_to_profile(step, seconds);
  if (debugging(Debug::Launch))
    debug_say(Debug::Launch,
              fmt::format("{}: {:.1f} us, {} bytes, {} operations", step.name, seconds * 1e6, step.bytes, step.flops));
}

bool plan_watched() {
  base::load_debug();
  load_profile();
  load_dump();
  return dumping() || plan_lines_wanted();
}

std::optional<std::size_t> observe_plan(const Plan& plan, std::size_t nodes) {
  Explanation e = explain(plan, dumping() || debugging(Debug::Codegen, 2));
  e.nodes = nodes;
  if (debugging(Debug::Graph)) say_graph(e, plan);
  say_kernels(e);
  if (debugging(Debug::Memory)) say_memory(e);
  return dump_plan(e, plan);
}

void say_schedule(const CompiledSchedule& schedule, bool made, std::uint64_t kernels_compiled) {
  const std::string kernels =
      fmt::format("{} kernels, key of {} words", schedule.steps.size(), schedule.key_words.size());
  if (made)
    debug_say(Debug::Cache, fmt::format("made a schedule of {}; compiled {}", kernels, kernels_compiled));
  else
    debug_say(Debug::Cache, fmt::format("found a schedule of {}", kernels));
}

}  // namespace oriel::runtime
