#include "runtime/executor.hpp"

#include <list>
#include <mutex>
#include <new>
#include <unordered_map>
#include <utility>

#include "backend/backend.hpp"
#include "oriel/error.hpp"
#include "runtime/compiled.hpp"
#include "runtime/dump.hpp"
#include "runtime/key.hpp"
#include "runtime/observe.hpp"
#include "schedule/rules.hpp"

namespace oriel::runtime {

using graph::NodePtr;

namespace {

/// Compiled schedules by key, the least recently used dropped first.
class ScheduleCache {
 public:
  std::shared_ptr<const CompiledSchedule> find(const Key& key) {
    auto [first, last] = by_hash_.equal_range(key.hash);
    for (; first != last; ++first) {
      if ((*first->second)->key_words != key.words) continue;
      recent_.splice(recent_.begin(), recent_, first->second);
      return recent_.front();
    }
    return nullptr;
  }

  void insert(const Key& key, std::shared_ptr<const CompiledSchedule> schedule) {
    words_ += key.words.size();
    recent_.push_front(std::move(schedule));
    by_hash_.emplace(key.hash, recent_.begin());
    hash_of_.emplace(recent_.front().get(), key.hash);
    while (recent_.size() > 1 && (recent_.size() > kMostSchedules || words_ > kMostWords)) drop_oldest();
  }

  void clear() {
    recent_.clear();
    by_hash_.clear();
    hash_of_.clear();
    words_ = 0;
  }

 private:
  static constexpr std::size_t kMostSchedules = 4096;
  static constexpr std::size_t kMostWords = 16'000'000;  // 128 MB of keys

  void drop_oldest() {
    const auto oldest = std::prev(recent_.end());
    const auto hash = hash_of_.find(oldest->get());
    auto [first, last] = by_hash_.equal_range(hash->second);
    while (first != last && first->second != oldest) ++first;
    by_hash_.erase(first);
    hash_of_.erase(hash);
    words_ -= (*oldest)->key_words.size();
    recent_.pop_back();
  }

  using Recent = std::list<std::shared_ptr<const CompiledSchedule>>;
  Recent recent_;
  std::unordered_multimap<std::uint64_t, Recent::iterator> by_hash_;
  std::unordered_map<const CompiledSchedule*, std::uint64_t> hash_of_;
  std::size_t words_ = 0;
};

struct State {
  ScheduleCache schedules;
  Key key;
  Counters counters;
  std::vector<NodePtr> pending;
  std::vector<mem::BufferPtr> outputs;
  std::vector<mem::BufferPtr> blocks;
  std::vector<void*> pointers;
};
State& state() {
  static State& s = *new State;  // never destroyed: static tensors may be realised while the process ends
  return s;
}

/// Hands the outputs over to the roots. A buffer that was written in place is a new version of itself.
void hand_over(const CompiledSchedule& schedule, State& s, const std::vector<bool>& finished) {
  for (std::size_t i = 0; i < s.outputs.size(); ++i)
    if (schedule.output_home[i] >= 0 && finished[i]) s.outputs[i]->bump_version();
  for (std::size_t i = 0; i < s.pending.size(); ++i) {
    const auto output = static_cast<std::size_t>(schedule.output_of_root[i]);
    if (finished[output]) s.pending[i]->set_realized(s.outputs[output]);
  }
}

/// The steps below `done` are finished, those below `started` may have written something, and something failed. While
/// no leaf has been written, everything is as it was. After that, what is finished is kept, for it cannot be made again
/// from what was overwritten; and who reads a leaf that is written in part will be told.
void salvage(const CompiledSchedule& schedule, State& s, std::size_t done, std::size_t started) {
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

/// Moves the elements of the first argument to the second. Waits for all that the source's device was given before.
void copy(const Step& step, const State& s) {
  const auto bytes = static_cast<std::size_t>(step.copied_bytes);
  const auto from = step.copied_from->allocator(), to = step.device->allocator();
  if (from->on_host()) {
    to->write(s.pointers[1], s.pointers[0], bytes);
  } else if (to->on_host()) {
    from->read(s.pointers[0], s.pointers[1], bytes);
  } else {
    const mem::Buffer between(backend::backend_for(Device::eigen()).allocator(), bytes);
    from->read(s.pointers[0], between.data(), bytes);
    to->write(s.pointers[1], between.data(), bytes);
  }
}

void launch(const Step& step, const State& s) {
  if (step.kernel == nullptr)
    copy(step, s);
  else
    step.device->launch(*step.kernel, s.pointers, s.key.parameter_values);
}

/// Returns the seconds that it took, where these are asked for.
double launch(const Step& step, const CompiledSchedule& schedule, State& s) {
  s.pointers.clear();
  for (const ArgumentSource& a : step.arguments) {
    const auto i = static_cast<std::size_t>(a.index);
    switch (a.kind) {
      case ArgumentSource::Kind::Leaf:
        s.pointers.push_back(s.key.leaves[i]->data());
        break;
      case ArgumentSource::Kind::Output:
        s.pointers.push_back(s.outputs[i]->data());
        break;
      case ArgumentSource::Kind::Temporary:
        s.pointers.push_back(s.blocks[static_cast<std::size_t>(schedule.memory.block_of[i])]->data());
        break;
    }
  }
  ++s.counters.kernels_launched;
  if (!profiling()) {
    launch(step, s);
    return 0;
  }
  if (step.copied_from != nullptr) step.copied_from->synchronize();
  step.device->synchronize();
  const auto start = now();
  launch(step, s);
  step.device->synchronize();
  return seconds_since(start);
}

std::shared_ptr<mem::Buffer> new_buffer(Device device, std::int64_t bytes) {
  return std::make_shared<mem::Buffer>(backend::backend_for(device).allocator(), static_cast<std::size_t>(bytes));
}

void run(const CompiledSchedule& schedule, State& s) {
  s.outputs.clear();
  s.blocks.clear();
  // Freed on every way out, so that an error leaves nothing behind.
  struct Release {
    State& s;
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
  std::size_t done = 0;
  std::size_t started = 0;
  backend::Backend* busy = nullptr;
  // What has not been submitted is not done.
  const auto submit = [&] {
    const std::size_t before = std::exchange(done, 0);
    if (busy != nullptr) busy->submit();
    done = before;
  };
  try {
    for (const Step& step : schedule.steps) {
      // What one device was given starts before another one, perhaps the host, is busy.
      if (step.device != busy) {
        submit();
        busy = step.device;
        busy->time_launches(profiling() || dumping());
      }
      ++started;
      const Site site = step.root < 0 ? Site::unknown() : s.pending[static_cast<std::size_t>(step.root)]->site;
      const detail::CallSite call(site, detail::CallSite::Nesting::inner);
      observe_start(step);
      const double seconds = launch(step, schedule, s);
      ++done;
      if (profiling()) record_launch(step, seconds);  // what a sink throws undoes no kernel
    }
    submit();
  } catch (...) {
    salvage(schedule, s, done, started);
    throw;
  }
}

std::shared_ptr<const CompiledSchedule> build(const State& s) {
  auto compiled = std::make_shared<CompiledSchedule>();
  const KernelSink add = [&](const PlannedKernel& k) { add_step(*compiled, k); };
  const bool watched = plan_watched();
  const Plan plan = make_plan(s.pending, s.key, limits_of(s.key), watched ? KernelSink{} : add);
  if (watched) {
    observe_plan(plan, s.key.nodes);  // first, so that a dump shows what a device refuses
    for (const PlannedKernel& k : plan.kernels)
      if (k.runs) add(k);
  }
  finish(*compiled, plan, s.key);
  prepare(*compiled);
  return compiled;
}

}  // namespace

namespace {

void realize_pending(std::span<const NodePtr> roots) {
  const std::lock_guard guard(lock());
  State& s = state();
  s.pending.clear();
  for (const NodePtr& r : roots)
    if (!r->realized()) s.pending.push_back(r);
  if (s.pending.empty()) return;
  struct Forget {
    State& s;
    ~Forget() {
      for (const NodePtr& n : s.pending) n->claim(false);
      std::vector<NodePtr> pending = std::move(s.pending);
      std::vector<mem::BufferPtr> outputs = std::move(s.outputs), leaves = std::move(s.key.leaves);
      s.pending.clear();
      s.outputs.clear();
      s.key.leaves.clear();
      s.key.parameters.clear();
    }
  } forget{s};

  // What a device refuses before anything runs is told of the last value.
  const detail::CallSite call(s.pending.back()->site, detail::CallSite::Nesting::inner);
  for (const NodePtr& n : s.pending) n->claim(true);
  const std::uint64_t salt = schedule::rules_version();
  make_key(s.pending, salt, s.key);
  if (s.key.writes) {
    const std::size_t asked = s.pending.size();
    const std::size_t early = add_due_roots(s.pending, s.key);
    for (std::size_t i = asked; i < s.pending.size(); ++i) s.pending[i]->claim(true);
    if (s.pending.size() > asked) make_key(s.pending, salt, s.key, early);
  }
  auto schedule = s.schedules.find(s.key);
  const bool made = schedule == nullptr;
  if (made) {
    const std::uint64_t compiled_before = kernels_compiled();
    schedule = build(s);
    observe_schedule(*schedule, true, kernels_compiled() - compiled_before);
    s.schedules.insert(s.key, schedule);
    ++s.counters.schedules_built;
  } else {
    observe_schedule(*schedule, false, 0);
    ++s.counters.schedules_reused;
  }
  run(*schedule, s);
  hand_over(*schedule, s, std::vector<bool>(s.outputs.size(), true));
  if (made && dumping()) dump_reports(*schedule);
}

}  // namespace

void realize(std::span<const NodePtr> roots) {
  try {
    realize_pending(roots);
  } catch (const std::bad_alloc&) {
    throw MemoryError("realize", "there is no memory to plan or run this work; what was computed before is kept");
  }
}

Counters counters() {
  const std::lock_guard guard(lock());
  Counters c = state().counters;
  c.kernels_compiled = kernels_compiled();
  return c;
}

void clear_caches() {
  const std::lock_guard guard(lock());
  state().schedules.clear();
  clear_kernel_cache();
}

}  // namespace oriel::runtime
