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

#include "base/environment.hpp"
#include "base/fork_lock.hpp"
#include "base/subprocess.hpp"

namespace oriel::backend::eigen {
namespace {

constexpr double kLookUpSeconds = 0.005;
// What an instruction costs a compiler in a kernel of thousands: what other kernels cost says nothing about it.
constexpr double kSecondsAnInstruction = 0.001;
constexpr int kRuns = 5;
// A program whose threads keep all processors busy leaves a compiler a fourth of one; with 10 it is a tenth.
constexpr int kNiceness = 5;
// A compiled kernel that is no faster than this is not worth another path through memory.
constexpr double kBetter = 0.97;

// Those with a thread, which must be gone before static objects are.
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
  if (kernel.recalled.exchange(true)) return;
  try {
    if (!builder_().recall(kernel, threads_(kernel))) return;
  } catch (const std::exception&) {
    return;  // a setting that is none: the thread says so if it comes to that
  }
  kernel.phase.store(Phase::Native, std::memory_order_release);
  if (in_child()) return;
  const std::lock_guard lock(guard_);
  note(fmt::format("{}: compiled from the first launch on, as an earlier process found it faster", kernel.plan->name));
}

bool Tuner::native_next(const TieredKernel& kernel) {
  if (kernel.phase.load(std::memory_order_acquire) != Phase::Measured) return false;
  const std::lock_guard lock(kernel.measure.guard);
  return kernel.measure.runs[1] <= kernel.measure.runs[0];
}

void Tuner::record(const TieredKernel& kernel, bool native, double seconds) {
  const Phase phase = kernel.phase.load(std::memory_order_acquire);
  if (phase == Phase::Watched) {
    const auto ns = static_cast<std::int64_t>(seconds * 1e9);
    const double spent = 1e-9 * static_cast<double>(kernel.tile_ns.fetch_add(ns, std::memory_order_relaxed) + ns);
    if (spent < patience_ * kLookUpSeconds) return;
    const double cost = std::max(seconds_to_build_.load(std::memory_order_relaxed),
                                 kSecondsAnInstruction * static_cast<double>(instructions(kernel.program)));
    const bool build = spent >= patience_ * cost;
    if (!build && kernel.looked_up.exchange(true)) return;
    Phase watched = Phase::Watched;
    if (kernel.phase.compare_exchange_strong(watched, Phase::Asked)) ask(kernel, build ? to_build_ : to_look_up_);
  } else if (phase == Phase::Measured) {
    const std::lock_guard lock(kernel.measure.guard);
    TieredKernel::Measure& m = kernel.measure;
    const int tier = native ? 1 : 0;
    // The first native run reads the code from memory.
    const int counted = native ? m.runs[1] - 1 : m.runs[0];
    if (counted >= 0 && (counted == 0 || seconds < m.best[tier])) m.best[tier] = seconds;
    ++m.runs[tier];
    if (m.runs[0] >= kRuns && m.runs[1] > kRuns && kernel.phase.load() == Phase::Measured) decide(kernel);
  }
}

void Tuner::decide(const TieredKernel& kernel) {
  const double tile = kernel.measure.best[0];
  const double native = kernel.measure.best[1];
  const bool better = native < kBetter * tile;
  kernel.phase.store(better ? Phase::Native : Phase::Tile, std::memory_order_release);
  if (in_child()) return;
  const std::lock_guard lock(guard_);
  note(fmt::format("{}: {} from now on, compiled {:.1f} us, tile machine {:.1f} us", kernel.plan->name,
                   better ? "compiled" : "tile machine", native * 1e6, tile * 1e6));
  if (!thread_.joinable() || stop_) return;
  to_remember_.push_back(kernel.shared_from_this());
  wake_.notify_one();
}

void Tuner::note(std::string text) {
  constexpr std::size_t kMost = 1000;  // nobody may be listening
  if (notes_.size() < kMost) notes_.push_back(std::move(text));
  has_notes_ = true;
}

std::vector<std::string> Tuner::notes() {
  if (in_child()) return {};
  const std::lock_guard lock(guard_);
  has_notes_ = false;
  return std::exchange(notes_, {});
}

// A forked child has no thread, and what that had locked will not be unlocked.
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
    // Signals are for the program's own threads.
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
      thread_ = std::thread([this] { work(); });
    } catch (const std::exception&) {
      stop_ = true;  // no thread is to be had: the tile machine goes on
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  wake_.notify_one();
}

void Tuner::work() {
#if defined(__linux__)
  // Of this thread alone, whatever the program's own is.
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
        for (const TieredKernel* k : list) builder.remember(*k, threads_(*k), k->phase.load() == Phase::Native);
      } else {
        build ? builder.build(list, said, kNiceness, &stop_) : builder.look_up(list, said);
      }
      seconds_to_build_ = builder.seconds_a_kernel();
    } catch (const std::exception& fault) {
      // A setting that is none, or no memory: the tile machine goes on.
      said.emplace_back(fault.what());
      stop_ = true;
    }
    for (const TieredKernel* k : list) {
      if (remember) break;
      const bool native = k->native.load() != nullptr;
      k->phase.store(native ? Phase::Measured : build ? Phase::Tile : Phase::Watched, std::memory_order_release);
    }
    lock.lock();
    for (std::string& text : said) note(std::move(text));
  }
  // What was measured last is worth the moment that keeping it takes.
  for (const KernelPtr& k : std::exchange(to_remember_, {})) {
    try {
      builder_().remember(*k, threads_(*k), k->phase.load() == Phase::Native);
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

}  // namespace oriel::backend::eigen
