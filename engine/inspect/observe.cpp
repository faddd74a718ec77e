#include "inspect/observe.hpp"

#include <fmt/format.h>

#include <atomic>

#include "backend/eigen/backend.hpp"
#include "base/by_use.hpp"
#include "base/context.hpp"
#include "base/settings.hpp"
#include "inspect/collect.hpp"
#include "oriel/error.hpp"
#include "runtime/check.hpp"
#include "runtime/dump.hpp"
#include "runtime/explain.hpp"
#include "runtime/profile.hpp"
#include "schedule/describe.hpp"

namespace oriel::runtime {

using base::Debug;
using base::debug_say;
using base::Watch;

namespace {

std::string title(const ExplainedKernel& k, std::size_t step) { return fmt::format("k{:02} {}\n", step, k.name); }

/// Says the lines about one plan.
class PlanLines {
 public:
  PlanLines(const Explanation& e, const Plan& plan)
      : e_(e), plan_(plan), context_(e.device.context), watch_(base::watch_of(context_)) {}

  void say() const {
    if (wanted(Debug::Graph)) say_graph();
    for (std::size_t step = 0; step < e_.kernels.size(); ++step) say_kernel(e_.kernels[step], step);
    if (wanted(Debug::Memory)) say_memory();
  }

 private:
  bool wanted(Debug category, int level = 1) const { return watch_.debugging(category, level); }
  void say(Debug category, std::string_view text) const { base::debug_say(context_, category, text); }

  void say_graph() const {
    say(Debug::Graph,
        fmt::format("{} nodes became {} values on {}\n", e_.nodes, e_.values, e_.device.str()) + rules_text(e_.rules));
    if (!wanted(Debug::Graph, 2)) return;
    for (schedule::EntryId v = 0; v < static_cast<schedule::EntryId>(plan_.arena->size()); ++v) {
      const auto i = static_cast<std::size_t>(v);
      if (!plan_.graph.uses[i].empty() || plan_.graph.stored_by[i] >= 0)
        say(Debug::Graph, schedule::value_text(*plan_.arena, v));
    }
  }

  void say_kernel(const ExplainedKernel& k, std::size_t step) const {
    if (wanted(Debug::Schedule)) {
      say(Debug::Schedule, title(k, step) + outputs_text(k));
      if (wanted(Debug::Schedule, 2))
        for (const std::string& v : k.values) say(Debug::Schedule, "  holds " + v);
    }
    if (wanted(Debug::Merge) && k.runs) {
      say(Debug::Merge, title(k, step));
      for (const ExplainedOperand& o : k.operands)
        say(Debug::Merge, operand_text(o, wanted(Debug::Merge, 2) ? Detail::views : Detail::kernels));
    }
    if (wanted(Debug::Codegen) && k.runs) {
      say(Debug::Codegen, title(k, step) + domain_text(k));
      if (wanted(Debug::Codegen, 2)) say(Debug::Codegen, k.program);
      if (wanted(Debug::Codegen, 3)) say(Debug::Codegen, k.source);
    }
  }

  void say_memory() const {
    say(Debug::Memory, memory_text(e_.memory));
    if (!wanted(Debug::Memory, 2)) return;
    for (std::size_t step = 0; step < e_.kernels.size(); ++step) {
      for (const ExplainedOperand& o : e_.kernels[step].operands)
        if (o.kind == ExplainedOperand::Kind::store)
          say(Debug::Memory, fmt::format("k{:02} puts {} in {}", step, o.value, o.memory));
    }
  }

  const Explanation& e_;
  const Plan& plan_;
  std::uint16_t context_;
  Watch watch_;
};

void record_launch(Watch watch, std::uint16_t context, const LaunchStep& step, double seconds, bool repeated) {
  if (watch.profiling()) add_to_profile(context, step, seconds, repeated);
  if (watch.reporting()) add_to_report(step, seconds, repeated);
  if (watch.debugging(Debug::Launch))
    debug_say(context, Debug::Launch,
              fmt::format("{}: {:.1f} us, {} bytes, {} operations", step.name, seconds * 1e6, step.bytes, step.flops));
}

void load_reports(base::ContextState& context, const ContextOptions& options) {
  if (base::watch_of(context).has(Watch::kAllKnown)) return;
  base::load_debug(context, options.debug);
  load_profile(context, options.profile);
  load_dump(context, options);
  load_check(context);
  load_kept_explanations(context);
  load_report(context);
}

PlanNumbers observe_plan(const Plan& plan, std::size_t nodes) {
  const Watch watch = base::watch_of(plan.arena->home().context);
  Explanation e = explain(plan, watch.dumping() || watch.reporting() || watch.debugging(Debug::Codegen, 2));
  e.nodes = nodes;
  PlanNumbers seen;
  if (watch.reporting()) seen.reported = add_to_report(e, plan);
  PlanLines(e, plan).say();
  seen.dumped = dump_plan(e, plan);
  return seen;
}

void say_schedule(const CompiledSchedule& schedule, bool made, std::uint64_t kernels_compiled) {
  const std::string kernels =
      fmt::format("{} kernels, key of {} words", schedule.steps.size(), schedule.key_words.size());
  if (made)
    debug_say(schedule.context, Debug::Cache,
              fmt::format("made a schedule of {}; compiled {}", kernels, kernels_compiled));
  else
    debug_say(schedule.context, Debug::Cache, fmt::format("found a schedule of {}", kernels));
}

constexpr Inspection kInspection{load_reports,     observe_plan,    say_schedule,    record_launch, dump_reports,
                                 keep_explanation, repeats_earlier, find_bad_number, refuse_result};

}  // namespace

#ifndef ORIEL_BY_USE
void install_inspection() noexcept { set_inspection(kInspection); }
#endif

}  // namespace oriel::runtime

#ifdef ORIEL_BY_USE
void oriel::by_use::inspection() {
  backend::eigen::use_descriptions();
  runtime::set_inspection(runtime::kInspection);
}
#endif
