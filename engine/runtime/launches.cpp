#include "runtime/launches.hpp"

#include <optional>

#include "memory/host.hpp"
#include "oriel/error.hpp"
#include "runtime/check.hpp"
#include "runtime/observe.hpp"

namespace oriel::runtime {

namespace {

/// Copies the first argument's bytes to the second argument. Waits for all earlier work of the source's device.
void copy(const LaunchStep& step, std::span<void* const> arguments) {
  const auto bytes = static_cast<std::size_t>(step.copied_bytes);
  const auto from = step.copied_from->allocator(), to = step.device->allocator();
  if (from->on_host()) {
    to->write(arguments[1], arguments[0], bytes);
  } else if (to->on_host()) {
    from->read(arguments[0], arguments[1], bytes);
  } else {
    const mem::Buffer between(mem::host_allocator(), bytes);
    from->read(arguments[0], between.data(), bytes);
    to->write(arguments[1], between.data(), bytes);
  }
}

void launch(const LaunchStep& step, std::span<void* const> arguments, std::span<const graph::Scalar> parameters,
            const backend::Keeping* keeping) {
  if (step.kernel == nullptr)
    copy(step, arguments);
  else if (keeping != nullptr)
    step.device->launch_keeping(*step.kernel, arguments, parameters, *keeping);
  else
    step.device->launch(*step.kernel, arguments, parameters);
}

}  // namespace

double launch_step(const LaunchStep& step, std::span<void* const> arguments, std::span<const graph::Scalar> parameters,
                   bool timed, const backend::Keeping* keeping) {
  if (!timed) {
    launch(step, arguments, parameters, keeping);
    return 0;
  }
  if (step.copied_from != nullptr) step.copied_from->synchronize();
  step.device->synchronize();
  const auto start = now();
  launch(step, arguments, parameters, keeping);
  step.device->synchronize();
  return seconds_since(start);
}

LaunchList::LaunchList(std::shared_ptr<const CompiledSchedule> schedule, std::vector<graph::Scalar> parameters,
                       std::int64_t most_kept)
    : schedule_(std::move(schedule)), parameters_(std::move(parameters)) {
  for (const std::int32_t home : schedule_->output_home)
    if (home >= 0) throw InternalError("LaunchList", "the schedule overwrites a leaf");
  const backend::Backend* busy = nullptr;
  for (const LaunchStep& step : schedule_->steps) {
    const auto first = static_cast<std::uint32_t>(arguments_);
    for (const ArgumentSource& a : step.arguments) {
      const auto argument = static_cast<std::uint32_t>(arguments_++);
      const auto index = static_cast<std::uint32_t>(a.index);
      switch (a.kind) {
        case ArgumentSource::Kind::Leaf:
          leaves_.push_back({argument, index});
          break;
        case ArgumentSource::Kind::Output:
          outputs_.push_back({argument, index});
          break;
        case ArgumentSource::Kind::Temporary:
          temporaries_.push_back({argument, static_cast<std::uint32_t>(schedule_->memory.block_of[index])});
          break;
      }
    }
    launches_.push_back({step.device, step.kernel.get(), first, static_cast<std::uint32_t>(step.arguments.size()),
                         step.device != busy, 0, 0, step.site});
    collect_keepable(step, launches_.back());
    busy = step.device;
  }
  for (const Device device : schedule_->output_device) allocators_.push_back(backend::backend_for(device).allocator());
  for (const std::int64_t bytes : schedule_->memory.block_bytes) scratch_bytes_ += bytes;
  keeps_ = scratch_bytes_ <= most_kept;
}

void LaunchList::collect_keepable(const LaunchStep& step, Launch& launch) {
  launch.first_keepable = static_cast<std::uint32_t>(keepable_.size());
  if (step.kernel == nullptr) return;
  for (const std::size_t argument : step.device->keepable(*step.kernel)) {
    const ArgumentSource& source = step.arguments[argument];
    if (source.kind != ArgumentSource::Kind::Leaf) continue;
    keepable_.push_back(static_cast<std::uint32_t>(source.index));
    keepable_argument_.push_back(static_cast<std::uint32_t>(argument));
    ++launch.keepable_count;
  }
}

LaunchList::~LaunchList() {
  for (std::atomic<Scratch*>& s : scratch_) delete s.load(std::memory_order_acquire);
}

LaunchList::Scratch& LaunchList::scratch(const base::Activity& work) const {
  // No other work uses this slot.
  std::atomic<Scratch*>& own = scratch_[static_cast<std::size_t>(work.slot())];
  Scratch* s = own.load(std::memory_order_acquire);
  if (s == nullptr) {
    s = new Scratch;
    s->pointers.resize(arguments_);
    own.store(s, std::memory_order_release);
  }
  return *s;
}

void LaunchList::allocate_blocks(Scratch& s) const {
  const schedule::MemoryPlan& memory = schedule_->memory;
  try {
    for (std::size_t i = 0; i < memory.block_bytes.size(); ++i)
      s.blocks.push_back(std::make_shared<mem::Buffer>(backend::backend_for(memory.block_device[i]).allocator(),
                                                       static_cast<std::size_t>(memory.block_bytes[i])));
  } catch (...) {
    s.blocks.clear();
    throw;
  }
  for (const Filled& t : temporaries_) s.pointers[t.argument] = s.blocks[t.index]->data();
}

void LaunchList::launch_all(Scratch& s, const KeptLeaves* keeping) const {
  const base::Watch watch = base::watch_of(schedule_->context);
  const bool timed = times_launches(watch);
  const bool watched = timed || watch.dumping();
  backend::Backend* busy = nullptr;
  for (std::size_t k = 0; k < launches_.size(); ++k) {
    const Launch& l = launches_[k];
    // Submit the work of one device before the next device, which may be the host, gets busy.
    if (l.changes_device) {
      if (busy != nullptr) busy->submit();
      busy = l.device;
      busy->time_launches(watched);
    }
    const std::span<void* const> arguments(s.pointers.data() + l.first, l.count);
    const detail::CallSite call(l.site, detail::CallSite::Nesting::inner);
    if (l.kernel != nullptr && !watched && (keeping == nullptr || l.keepable_count == 0)) {
      l.device->launch(*l.kernel, arguments, parameters_);
      continue;
    }
    InlineVector<backend::StableArgument, 4> stable;
    for (std::uint32_t a = l.first_keepable; keeping != nullptr && a < l.first_keepable + l.keepable_count; ++a)
      if (keeping->stable[a] != nullptr) stable.push_back({keepable_argument_[a], keeping->stable[a]});
    std::optional<backend::Keeping> kept;
    if (!stable.empty())
      kept.emplace(backend::Keeping{keeping->factors, l.device->allocator(), {stable.data(), stable.size()}});
    const LaunchStep& step = schedule_->steps[k];
    if (watched) observe_start(watch, schedule_->context, step);
    const double seconds = launch_step(step, arguments, parameters_, timed, kept ? &*kept : nullptr);
    if (!watched) continue;
    if (timed) inspection().record_launch(watch, schedule_->context, step, seconds, false);
    if (watch.checking())
      if (const std::optional<BadNumber> found = inspection().find_bad_number(step, arguments, watch, true, {}))
        inspection().refuse_result(step, arguments, watch, *found, {l.site, {}, {}});
  }
  if (busy != nullptr) busy->submit();
}

void LaunchList::run(const base::Activity& work, std::span<void* const> leaves, Buffers& outputs,
                     const KeptLeaves* keeping) const {
  Scratch& s = scratch(work);
  struct Release {
    Scratch& s;
    bool keeps;
    ~Release() {
      if (!keeps) s.blocks.clear();
    }
  } release{s, keeps_};
  const std::size_t first = outputs.size();
  for (std::size_t i = 0; i < allocators_.size(); ++i)
    outputs.push_back(
        std::make_shared<mem::Buffer>(allocators_[i], static_cast<std::size_t>(schedule_->output_bytes[i])));
  if (s.blocks.size() != schedule_->memory.block_bytes.size()) allocate_blocks(s);
  void** const pointers = s.pointers.data();
  for (const Filled& l : leaves_) pointers[l.argument] = leaves[l.index];
  for (const Filled& o : outputs_) pointers[o.argument] = outputs[first + o.index]->data();
  launch_all(s, keeping);
  s.runs.store(s.runs.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

std::uint64_t LaunchList::runs() const noexcept {
  std::uint64_t sum = 0;
  for (const std::atomic<Scratch*>& own : scratch_)
    if (const Scratch* s = own.load(std::memory_order_acquire)) sum += s->runs.load(std::memory_order_relaxed);
  return sum;
}

}  // namespace oriel::runtime
