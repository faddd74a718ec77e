#include "backend/eigen/compiled/tuner.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <utility>

#include "backend/eigen/compiled/tuning.hpp"
#include "base/environment.hpp"
#include "base/fork_lock.hpp"
#include "base/subprocess.hpp"

namespace oriel::backend::eigen {

namespace {

constexpr double kLookUpSeconds = 0.005;
// The compile time of an instruction in a kernel of thousands. The time of smaller kernels does not predict it.
constexpr double kSecondsAnInstruction = 0.001;
// If a program's threads keep all processors busy, the compiler gets a fourth of one. With a niceness of 10 it would
// get a tenth.
constexpr int kNiceness = 5;
// A compiled kernel must take at most this part of the tile machine's time; a smaller gain is not worth it.
constexpr double kBetter = 0.97;

// Tuners with a running thread. The threads must end before static objects are destroyed.
base::ForkMutex& living_guard() { return base::fork_mutex(base::ForkLock::tuners); }
std::vector<Tuner*>& living() {
  static auto& list = *new std::vector<Tuner*>();
  return list;
}

void stop_all() {
  std::vector<Tuner*> list;
  {
    const std::lock_guard lock(living_guard());
    list = living();
  }
  base::cancel_programs();
  for (Tuner* tuner : list) tuner->stop();
}

}  // namespace

Tuner::Tuner(std::function<NativeBuilder&()> builder, double patience, std::function<int(const TieredKernel&)> threads)
    : builder_(std::move(builder)), patience_(patience), threads_(std::move(threads)) {}

Tuner::~Tuner() {
  stop();
  const std::lock_guard lock(living_guard());
  std::erase(living(), this);
}

void Tuner::recall(const TieredKernel& kernel) {
  Tuning& tuning = kernel.tuning();
  if (tuning.recalled.exchange(true)) return;
  try {
    if (!builder_().recall(kernel, threads_(kernel))) return;
  } catch (const std::exception&) {
    return;  // invalid setting: the thread reports it if it needs a compiler
  }
  tuning.phase.store(Phase::Native, std::memory_order_release);
  if (in_child()) return;
  const std::lock_guard lock(guard_);
  note(fmt::format("{}: compiled from the first launch on, as an earlier process found it faster", kernel.plan->name));
}

bool Tuner::native_next(const TieredKernel& kernel) {
  const Tuning& tuning = kernel.tuning();
  return tuning.phase.load(std::memory_order_acquire) == Phase::Measured && tuning.measure.native_next();
}

void Tuner::record(const TieredKernel& kernel, bool native, double seconds) {
  Tuning& tuning = kernel.tuning();
  const Phase phase = tuning.phase.load(std::memory_order_acquire);
  if (phase == Phase::Watched) {
    const auto ns = static_cast<std::int64_t>(seconds * 1e9);
    const double spent = 1e-9 * static_cast<double>(tuning.tile_ns.fetch_add(ns, std::memory_order_relaxed) + ns);
    if (spent < patience_ * kLookUpSeconds) return;
    const double cost = std::max(seconds_to_build_.load(std::memory_order_relaxed),
                                 kSecondsAnInstruction * static_cast<double>(instructions(kernel.program)));
    const bool build = spent >= patience_ * cost;
    if (!build && tuning.looked_up.exchange(true)) return;
    Phase watched = Phase::Watched;
    if (!tuning.phase.compare_exchange_strong(watched, Phase::Asked)) return;
    render_unit_of(kernel);
    if (&kernel.tuning() == &tuning)
      ask(kernel, build ? to_build_ : to_look_up_);
    else
      tuning.phase = Phase::Watched;  // the kernel is watched by itself now; others that share the unit will be too
  } else if (phase == Phase::Measured && tuning.measure.add(native, seconds, kernel.seconds)) {
    decide(kernel);
  }
}

void Tuner::decide(const TieredKernel& kernel) {
  const double ratio = kernel.tuning().measure.ratio();
  const bool better = ratio < kBetter;
  kernel.tuning().phase.store(better ? Phase::Native : Phase::Tile, std::memory_order_release);
  if (in_child()) return;
  const std::lock_guard lock(guard_);
  note(fmt::format("{}: {} from now on, compiled takes {:.2f} of the tile machine's time", kernel.plan->name,
                   better ? "compiled" : "tile machine", ratio));
  if (!thread_.joinable() || stop_) return;
  to_remember_.push_back(kernel.shared_from_this());
  wake_.notify_one();
}

void Tuner::note(std::string text) {
  constexpr std::size_t kMost = 1000;  // perhaps nobody reads the notes
  if (notes_.size() < kMost) notes_.push_back(std::move(text));
  has_notes_ = true;
}

std::vector<std::string> Tuner::notes() {
  if (in_child()) return {};
  const std::lock_guard lock(guard_);
  has_notes_ = false;
  return std::exchange(notes_, {});
}

/// Did an earlier process find the form of many sizes faster? It was not asked at the first launch.
bool Tuner::was_faster(const TieredKernel& kernel) {
  try {
    return builder_().was_faster(kernel, threads_(kernel));
  } catch (const std::exception&) {
    return false;
  }
}

// A forked child has no thread, and locks that the thread held are never released.
bool Tuner::in_child() const { return process_ != 0 && process_ != getpid(); }

void Tuner::ask(const TieredKernel& kernel, std::vector<KernelPtr>& list) {
  if (in_child()) return;
  const std::lock_guard lock(guard_);
  if (stop_) return;
  environment_ = base::copy_environment();
  list.push_back(kernel.shared_from_this());
  if (process_ == 0) {
    process_ = getpid();
    {
      const std::lock_guard living_lock(living_guard());
      static const int registered = std::atexit(stop_all);
      static_cast<void>(registered);
      living().push_back(this);
    }
    // The program's own threads should handle signals.
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
      thread_ = std::thread([this] { work(); });
    } catch (const std::exception&) {
      stop_ = true;  // no thread can be started: the tile machine goes on
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  wake_.notify_one();
}

void Tuner::work() {
#if defined(__linux__)
  // Changes the priority of this thread only, relative to the program's.
  const auto self = static_cast<id_t>(gettid());
  setpriority(PRIO_PROCESS, self, getpriority(PRIO_PROCESS, self) + kNiceness);
#endif
  std::unique_lock lock(guard_);
  while (!stop_) {
    if (to_look_up_.empty() && to_build_.empty() && to_remember_.empty()) {
      busy_ = false;
      idle_.notify_all();
      wake_.wait(lock);
      continue;
    }
    busy_ = true;
    const bool remember = !to_remember_.empty();
    const bool build = !remember && to_look_up_.empty();
    const std::vector<KernelPtr> kernels = std::exchange(remember ? to_remember_ : build ? to_build_ : to_look_up_, {});
    const base::ThreadEnvironment environment(environment_);
    lock.unlock();
    std::vector<const TieredKernel*> list;
    list.reserve(kernels.size());
    for (const KernelPtr& k : kernels) list.push_back(k.get());
    std::vector<std::string> said;
    try {
      NativeBuilder& builder = builder_();
      if (remember) {
        for (const TieredKernel* k : list)
          builder.remember(*k, threads_(*k), k->tuning().phase.load() == Phase::Native);
      } else {
        build ? builder.build(list, said, kNiceness, &stop_) : builder.look_up(list, said);
      }
      seconds_to_build_ = builder.seconds_a_kernel();
    } catch (const std::exception& fault) {
      // An invalid setting, or no memory: the tile machine goes on.
      said.emplace_back(fault.what());
      stop_ = true;
    }
    for (const TieredKernel* k : list) {
      if (remember) break;
      const bool native = k->native.load() != nullptr;
      const bool known = native && k->shared() != nullptr && was_faster(*k);
      // A kernel that lost its unit meanwhile is watched by itself. So are the others, once they are asked for.
      if (k->sized.unit != nullptr && k->shared() == nullptr) k->sized.unit->tuning.phase = Phase::Watched;
      k->tuning().phase.store(known    ? Phase::Native
                              : native ? Phase::Measured
                              : build  ? Phase::Tile
                                       : Phase::Watched,
                              std::memory_order_release);
    }
    lock.lock();
    for (std::string& text : said) note(std::move(text));
  }
  // Storing the latest decisions takes only a moment and is worth it.
  for (const KernelPtr& k : std::exchange(to_remember_, {})) {
    try {
      builder_().remember(*k, threads_(*k), k->tuning().phase.load() == Phase::Native);
    } catch (const std::exception&) {
      break;
    }
  }
  busy_ = false;
  idle_.notify_all();
}

void Tuner::stop() {
  if (in_child()) {
    if (thread_.joinable()) thread_.detach();
    return;
  }
  {
    const std::lock_guard lock(guard_);
    stop_ = true;
    wake_.notify_all();
    if (!thread_.joinable()) return;
  }
  thread_.join();
}

void Tuner::settle() {
  if (in_child()) return;
  std::unique_lock lock(guard_);
  idle_.wait(lock,
             [&] { return stop_ || (!busy_ && to_look_up_.empty() && to_build_.empty() && to_remember_.empty()); });
}

namespace {

// Launches of each tier that count. Estimates for several sizes are less certain than the clock, so more are needed.
constexpr std::size_t kRuns = 5;
constexpr std::size_t kRunsOfSizes = 11;

}  // namespace

bool Measure::native_next() const {
  const std::lock_guard lock(guard_);
  const std::size_t native = ratios_[kNative].size() + (native_seen_ ? 1 : 0);
  return native <= ratios_[kTile].size();
}

bool Measure::add(bool native, double seconds, double estimate) {
  const std::lock_guard lock(guard_);
  if (estimate_ == 0) estimate_ = estimate;
  one_size_ = one_size_ && estimate == estimate_;
  // The first compiled launch is slow, because it reads the code from memory.
  if (native && !native_seen_)
    native_seen_ = true;
  else
    ratios_[native ? kNative : kTile].push_back(seconds / estimate);
  const std::size_t needed = one_size_ ? kRuns : kRunsOfSizes;
  if (done_ || ratios_[kTile].size() < needed || ratios_[kNative].size() < needed) return false;
  return done_ = true;
}

// Of one size the best time is the least disturbed one. Of several sizes the median bears with wrong estimates.
double Measure::typical(std::vector<double> ratios, bool one_size) {
  if (one_size) return *std::min_element(ratios.begin(), ratios.end());
  const auto middle = ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() / 2);
  std::nth_element(ratios.begin(), middle, ratios.end());
  return *middle;
}

double Measure::ratio() const {
  const std::lock_guard lock(guard_);
  return typical(ratios_[kNative], one_size_) / typical(ratios_[kTile], one_size_);
}

}  // namespace oriel::backend::eigen
