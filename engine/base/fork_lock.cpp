#include "base/fork_lock.hpp"

#include <pthread.h>

#include <array>
#include <cstddef>
#include <thread>

#include "base/activity.hpp"

namespace oriel::base {

namespace {

constexpr std::size_t kMutexes = static_cast<std::size_t>(ForkLock::count);
constexpr std::size_t kContexts = 8;  // contexts with a mutex of their own; more contexts share these
constexpr std::size_t kSpinSets = static_cast<std::size_t>(SpinSet::count);
constexpr std::size_t kSpinLocks = 64;  // spin locks per set; a power of two
constexpr int kSpins = 100;             // spins before the thread yields to the holder, which may not be running

struct alignas(64) SpinLock {
  std::atomic_flag flag;
};

// Nothing here has a constructor or destructor that runs, because static tensors use it before main and after it.
constinit std::array<std::array<ForkMutex, kContexts>, kMutexes> mutexes;
constinit std::array<std::array<SpinLock, kSpinLocks>, kSpinSets> spin_locks;

/// Tells the processor that this thread is spinning.
void pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

void spin(std::atomic_flag& flag) noexcept {
  for (int k = 0; flag.test_and_set(std::memory_order_acquire); ++k)
    if (k >= kSpins) std::this_thread::yield();
}

// Wait for work before taking the first lock, because work takes locks itself.
void before_fork() {
  Activity::before_fork();
  for (auto& which : mutexes)
    for (ForkMutex& mutex : which) mutex.lock();
  for (auto& set : spin_locks)
    for (SpinLock& lock : set) spin(lock.flag);
}

void unlock_all() {
  for (auto& set : spin_locks)
    for (SpinLock& lock : set) lock.flag.clear(std::memory_order_release);
  for (auto& which : mutexes)
    for (ForkMutex& mutex : which) mutex.unlock();
}

void after_fork() {
  unlock_all();
  Activity::after_fork_in_parent();
}

void after_fork_in_child() {
  unlock_all();
  Activity::after_fork_in_child();
}

const int kRegistered = pthread_atfork(before_fork, after_fork, after_fork_in_child);

}  // namespace

bool ForkMutex::owned() const noexcept { return owner_.load(std::memory_order_relaxed) == this_thread(); }

void ForkMutex::lock() {
  const void* const here = this_thread();
  if (owner_.load(std::memory_order_relaxed) == here) {
    ++depth_;
    return;
  }
  // The mutex is usually held for less time than it takes to sleep and be woken.
  int k = 0;
  for (; k < kSpins; ++k) {
    // Look before trying: a failed attempt would slow the holder down.
    if (owner_.load(std::memory_order_relaxed) == nullptr && mutex_.try_lock()) break;
    pause();
  }
  if (k == kSpins) mutex_.lock();
  owner_.store(here, std::memory_order_relaxed);
  depth_ = 1;
}

void ForkMutex::unlock() {
  if (--depth_ > 0) return;
  owner_.store(nullptr, std::memory_order_relaxed);
  mutex_.unlock();
}

ForkMutex& fork_mutex(ForkLock which, std::size_t context) noexcept {
  static_cast<void>(kRegistered);
  return mutexes[static_cast<std::size_t>(which)][context % kContexts];
}

SpinGuard::SpinGuard(SpinSet set, const void* object) noexcept
    : flag_(spin_locks[static_cast<std::size_t>(set)]
                      [static_cast<std::size_t>(reinterpret_cast<std::uintptr_t>(object) * 0x9e3779b97f4a7c15ULL >> 58)]
                          .flag) {
  spin(flag_);
}

}  // namespace oriel::base
