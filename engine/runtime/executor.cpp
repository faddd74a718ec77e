#include "runtime/executor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <new>
#include <optional>
#include <utility>

#include "backend/backend.hpp"
#include "base/activity.hpp"
#include "oriel/error.hpp"
#include "runtime/caches.hpp"
#include "runtime/check.hpp"
#include "runtime/dump.hpp"
#include "runtime/explain.hpp"
#include "runtime/key.hpp"
#include "runtime/launches.hpp"
#include "runtime/observe.hpp"
#include "runtime/profile.hpp"
#include "runtime/tape.hpp"
#include "runtime/trace.hpp"
#include "schedule/describe.hpp"
#include "schedule/rule_switches.hpp"

namespace oriel::runtime {

using graph::NodePtr;

namespace {

/// The working memory of one realisation. It is kept for the next one, so that small work does not allocate.
struct Scratch {
  Key key;
  std::vector<NodePtr> pending;
  std::size_t sealed = 0;  // how many of the pending nodes are sealed
  std::vector<mem::BufferPtr> outputs;
  std::vector<mem::BufferPtr> blocks;
  std::vector<void*> pointers;
  std::vector<NodePtr> dropped;  // sources of nodes that were realised
  RecentSchedules recent;
  std::uint64_t launched = 0;
};

/// One for each slot, made by the first work in it. Never destroyed: static tensors may be realised while the process
/// ends.
Scratch& scratch(const base::Activity& work) {
  static constinit std::array<Scratch*, base::Activity::kMost> all{};
  Scratch*& own = all[static_cast<std::size_t>(work.slot())];
  if (own == nullptr) own = new Scratch;
  return *own;
}

/// Gives the roots and the kept values their output buffers. A buffer that was overwritten in place gets a new version.
void hand_over(const CompiledSchedule& schedule, Scratch& s, const std::vector<bool>& finished) {
  for (std::size_t i = 0; i < s.outputs.size(); ++i)
    if (schedule.output_home[i] >= 0 && finished[i]) s.outputs[i]->bump_version();
  for (std::size_t i = 0; i < s.pending.size(); ++i) {
    const auto output = static_cast<std::size_t>(schedule.output_of_root[i]);
    if (finished[output]) s.pending[i]->set_realized(s.outputs[output], s.dropped);
  }
  for (const auto& [number, output] : schedule.kept) {
    const auto o = static_cast<std::size_t>(output);
    if (finished[o] && !s.key.order[number].realized()) s.key.order[number].set_realized(s.outputs[o], s.dropped);
  }
}

/// Cleans up after a failure. The steps below `done` have finished; those below `started` may have written something.
/// If no leaf has been written, nothing has changed. Otherwise the finished outputs are kept, because what they were
/// computed from may be overwritten. A leaf that is partly written gets a new version, so that reading it is reported
/// as an error.
void salvage(const CompiledSchedule& schedule, Scratch& s, std::size_t done, std::size_t started) {
  std::vector<bool> begun(s.outputs.size()), finished(s.outputs.size(), true);
  bool overwritten = false;
  for (std::size_t k = 0; k < schedule.steps.size(); ++k) {
    for (const std::int32_t o : schedule.steps[k].stores) {
      const auto i = static_cast<std::size_t>(o);
      if (k >= done) finished[i] = false;
      if (k < started && schedule.output_home[i] >= 0) begun[i] = overwritten = true;
    }
  }
  if (!overwritten) return;
  for (std::size_t i = 0; i < s.outputs.size(); ++i)
    if (begun[i] && !finished[i]) s.outputs[i]->bump_version();
  hand_over(schedule, s, finished);
}

const mem::BufferPtr& buffer_of(const ArgumentSource& a, const CompiledSchedule& schedule, const Scratch& s) {
  const auto i = static_cast<std::size_t>(a.index);
  switch (a.kind) {
    case ArgumentSource::Kind::Leaf:
      return s.key.leaves[i];
    case ArgumentSource::Kind::Output:
      return s.outputs[i];
    case ArgumentSource::Kind::Temporary:
      break;
  }
  return s.blocks[static_cast<std::size_t>(schedule.memory.block_of[i])];
}

std::vector<Repeats::Operand> operands(const LaunchStep& step, const CompiledSchedule& schedule, const Scratch& s) {
  std::vector<Repeats::Operand> out;
  for (std::size_t a = 0; a < step.arguments.size(); ++a)
    out.push_back({buffer_of(step.arguments[a], schedule, s), step.writes[a]});
  return out;
}

/// Returns the seconds that the launch took, if they are measured.
double launch(const LaunchStep& step, const CompiledSchedule& schedule, Scratch& s, bool timed) {
  s.pointers.clear();
  for (const ArgumentSource& a : step.arguments) s.pointers.push_back(buffer_of(a, schedule, s)->data());
  ++s.launched;
  return launch_step(step, s.pointers, s.key.parameter_values, timed);
}

std::shared_ptr<mem::Buffer> new_buffer(Device device, std::int64_t bytes) {
  return std::make_shared<mem::Buffer>(backend::backend_for(device).allocator(), static_cast<std::size_t>(bytes));
}

/// What a message says about the value that argument `argument` of the step holds. The work is planned once more: only
/// the plan knows which value each kernel stores.
CheckedValue checked_value(const Scratch& s, std::size_t step, std::size_t argument) {
  const Plan plan = make_plan(s.pending, s.key, limits_of(s.key));
  for (const PlannedKernel& kernel : plan.kernels) {
    if (!kernel.runs || step-- != 0) continue;
    const schedule::EntryId stored = kernel.lowered.bindings[argument].entry;
    CheckedValue value{(*plan.arena)[stored].node->site, schedule::value_text(*plan.arena, stored), {}};
    const schedule::FusedKernels* const fused = plan.graph.fused_with(kernel.id);
    for (const schedule::KernelId member :
         fused != nullptr ? fused->kernels : std::vector<schedule::KernelId>{kernel.id}) {
      for (const schedule::HeldValue& held :
           schedule::held_values(*plan.arena, plan.graph.kernels[static_cast<std::size_t>(member)])) {
        const std::string line = schedule::site_text((*plan.arena)[held.entry].node->site);
        if (held.entry == stored || line.empty()) continue;
        value.fused += fmt::format("{}{} (line {})", value.fused.empty() ? "" : ", ",
                                   schedule::value_text(*plan.arena, held.entry), line);
      }
    }
    return value;
  }
  return {};
}

/// Which arguments of a step are memory that it writes in part, or over, and that holds a bad number before.
std::vector<bool> bad_before(const LaunchStep& step, const CompiledSchedule& schedule, const Scratch& s,
                             base::Watch watch) {
  std::vector<bool> bad;
  for (const LaunchStep::Floats& floats : step.floats) {
    const ArgumentSource& source = step.arguments[floats.argument];
    if (!floats.output || source.kind != ArgumentSource::Kind::Output ||
        schedule.output_home[static_cast<std::size_t>(source.index)] < 0)
      continue;
    LaunchStep alone;
    alone.device = step.device;
    alone.floats = {{0, floats.dtype, floats.elements, true}};
    void* const memory = s.outputs[static_cast<std::size_t>(source.index)]->data();
    if (!inspection().find_bad_number(alone, {&memory, 1}, watch, true, {})) continue;
    bad.resize(step.arguments.size());
    bad[floats.argument] = true;
  }
  return bad;
}

void run(const CompiledSchedule& schedule, Scratch& s) {
  s.outputs.clear();
  s.blocks.clear();
  // Releases the blocks also if an error is thrown.
  struct Release {
    Scratch& s;
    ~Release() { s.blocks.clear(); }
  } release{s};
  for (std::size_t i = 0; i < schedule.output_bytes.size(); ++i) {
    const std::int32_t home = schedule.output_home[i];
    s.outputs.push_back(home >= 0 ? s.key.leaves[static_cast<std::size_t>(home)]
                                  : new_buffer(schedule.output_device[i], schedule.output_bytes[i]));
  }
  const schedule::MemoryPlan& memory = schedule.memory;
  for (std::size_t i = 0; i < memory.block_bytes.size(); ++i)
    s.blocks.push_back(new_buffer(memory.block_device[i], memory.block_bytes[i]));
  const base::Watch watch = base::watch_of(schedule.context);
  const bool timed = times_launches(watch);
  std::size_t done = 0;
  std::size_t started = 0;
  std::vector<bool> skipped;  // by a check of results
  backend::Backend* busy = nullptr;
  // Work counts as done only after it was submitted.
  const auto submit = [&] {
    const std::size_t before = std::exchange(done, 0);
    if (busy != nullptr) busy->submit();
    done = before;
  };
  try {
    for (const LaunchStep& step : schedule.steps) {
      // Submit the work of one device before the next device, which may be the host, gets busy.
      if (step.device != busy) {
        submit();
        busy = step.device;
        busy->time_launches(timed || watch.dumping());
      }
      ++started;
      const Site site = step.node >= 0   ? s.key.order[step.node].site
                        : step.root >= 0 ? s.pending[static_cast<std::size_t>(step.root)]->site
                                         : Site::unknown();
      const detail::CallSite call(site, detail::CallSite::Nesting::inner);
      observe_start(watch, schedule.context, step);
      if (watch.checking()) skipped = bad_before(step, schedule, s, watch);
      const double seconds = launch(step, schedule, s, timed);
      ++done;
      const bool repeated =
          (watch.profiling() || watch.reporting()) &&
          inspection().repeats_earlier(schedule.context, step, operands(step, schedule, s), s.key.parameter_values);
      if (watch.checking())
        if (const std::optional<BadNumber> found = inspection().find_bad_number(step, s.pointers, watch, true, skipped))
          inspection().refuse_result(step, s.pointers, watch, *found, checked_value(s, started - 1, found->argument));
      if (timed)
        // If a sink throws, the kernel has still run.
        inspection().record_launch(watch, schedule.context, step, seconds, repeated);
    }
    submit();
  } catch (...) {
    salvage(schedule, s, done, started);
    throw;
  }
}

/// The context of work on these roots.
std::uint16_t context_of(std::span<const NodePtr> roots) {
  for (const NodePtr& root : roots)
    if (!root->realized()) return root->device.context;
  return 0;
}

/// Returns 0, or the work that this one collided with; then nothing was done. `keeps` becomes true if the work keeps
/// values that were not asked for.
std::uint64_t try_to_realize(std::span<const NodePtr> roots, BesideRoots beside, bool& keeps) {
  base::Activity work;
  Scratch& s = scratch(work);
  // Releasing nodes may run a user's deleter, which may realise something. So end the claims first.
  struct ReleaseClaims {
    base::Activity& work;
    Scratch& s;
    ~ReleaseClaims() {
      release_claims(work, s.key, s.pending, &s.sealed);
      s.outputs.clear();
      s.dropped.clear();
    }
  } release{work, s};
  const std::uint64_t other =
      claim_pending(work, roots, schedule::rules_version(context_of(roots)), s.key, s.pending, &s.sealed, beside);
  if (other != 0 || s.pending.empty()) return other;
  keeps = !s.key.awaited.empty() || !s.key.added.empty();

  // An error of a device before the first launch names the line of the last value.
  const detail::CallSite call(s.pending.back()->site, detail::CallSite::Nesting::inner);
  Caches& caches = caches_of(s.pending.front()->device.context);
  Caches::Counts& counts = caches.counts[static_cast<std::size_t>(work.slot())];
  const CompiledSchedule* schedule = s.recent.find(s.key);
  bool made = false;
  if (schedule == nullptr) {
    auto known = caches.schedules.find(s.key);
    made = known == nullptr;
    if (made) {
      const std::uint64_t compiled_before = caches.kernels.compiled();
      known = compile_schedule(s.pending, s.key, caches.kernels);
      observe_schedule(*known, true, caches.kernels.compiled() - compiled_before);
      known = caches.schedules.insert(s.key, std::move(known));
    }
    schedule = known.get();
    s.recent.insert(s.key, std::move(known));
  }
  if (!made) observe_schedule(*schedule, false, 0);
  (made ? counts.schedules_built : counts.schedules_reused).fetch_add(1, std::memory_order_relaxed);
  if (base::watch_of(schedule->context).explaining()) inspection().keep_explanation(s.pending, s.key);
  run(*schedule, s);
  counts.kernels_launched.fetch_add(std::exchange(s.launched, 0), std::memory_order_relaxed);
  hand_over(*schedule, s, std::vector<bool>(s.outputs.size(), true));
  for (const Awaited& a : s.key.awaited)
    if (const graph::Node& node = s.key.order[a.number]; !a.cheap && !node.realized())
      node.evaluated.store(node.evaluated.load(std::memory_order_relaxed) + std::max(a.share, kSmallestShare),
                           std::memory_order_relaxed);
  if (made && schedule->dumped) inspection().dump_reports(*schedule);
  return 0;
}

}  // namespace

void realize(std::span<const NodePtr> roots) {
  check_may_read("realize");
  Tape::keep(roots);
  bool keeps = false;
  const auto run_with = [&](BesideRoots beside) {
    try {
      std::uint64_t other = 0;
      for (int attempt = 0; (other = try_to_realize(roots, beside, keeps)) != 0; ++attempt)
        wait_for_turn(other, attempt);
    } catch (const std::bad_alloc&) {
      throw MemoryError("realize", "there is no memory to plan or run this work; what was computed before is kept");
    }
  };
  try {
    run_with(BesideRoots::all);
  } catch (const MemoryError&) {
    // There may be memory for the results alone.
    if (!keeps) throw;
    run_with(BesideRoots::writes);
  }
}

Counters counters() {
  const Caches& caches = caches_of(base::current_context_state().number());
  Counters sum;
  for (const Caches::Counts& c : caches.counts) {
    sum.schedules_built += c.schedules_built.load(std::memory_order_relaxed);
    sum.schedules_reused += c.schedules_reused.load(std::memory_order_relaxed);
    sum.kernels_launched += c.kernels_launched.load(std::memory_order_relaxed);
  }
  sum.kernels_compiled = caches.kernels.compiled();
  return sum;
}

void clear_caches() {
  Caches& caches = caches_of(base::current_context_state().number());
  caches.schedules.clear();
  caches.kernels.clear();
}

}  // namespace oriel::runtime
