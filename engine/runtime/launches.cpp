#include "runtime/launches.hpp"

#include "oriel/error.hpp"
#include "runtime/check.hpp"
#include "runtime/launch_step.hpp"
#include "runtime/observe.hpp"

namespace oriel::runtime {

LaunchList::Sites LaunchList::sites_of(std::span<const graph::NodePtr> roots, const graph::Order& order) {
  Sites sites;
  for (const graph::NodePtr& root : roots) sites.roots.push_back(root->site);
  for (std::size_t i = 0; i < order.size(); ++i) sites.nodes.push_back(order[i].site);
  return sites;
}

LaunchList::LaunchList(std::shared_ptr<const CompiledSchedule> schedule, std::vector<graph::Scalar> parameters,
                       const Sites& sites, std::int64_t most_kept)
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
    const Site site = step.node >= 0   ? sites.nodes[static_cast<std::size_t>(step.node)]
                      : step.root >= 0 ? sites.roots[static_cast<std::size_t>(step.root)]
                                       : Site::unknown();
    launches_.push_back({step.device, step.kernel.get(), first, static_cast<std::uint32_t>(step.arguments.size()),
                         step.device != busy, 0, 0, site});
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

void LaunchList::launch_keeping(const Launch& l, std::span<void* const> arguments, const KeptLeaves& keeping) const {
  InlineVector<backend::StableArgument, 4> stable;
  for (std::uint32_t k = l.first_keepable; k < l.first_keepable + l.keepable_count; ++k)
    if (keeping.stable[k] != nullptr) stable.push_back({keepable_argument_[k], keeping.stable[k]});
  l.device->launch_keeping(*l.kernel, arguments, parameters_,
                           {keeping.factors, l.device->allocator(), {stable.data(), stable.size()}});
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
    if (l.kernel != nullptr && !watched) {
      if (keeping != nullptr && l.keepable_count > 0) {
        launch_keeping(l, arguments, *keeping);
      } else {
        l.device->launch(*l.kernel, arguments, parameters_);
      }
      continue;
    }
    const LaunchStep& step = schedule_->steps[k];
    observe_start(watch, schedule_->context, step);
    const double seconds = launch_step(step, arguments, parameters_, timed);
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
