#include "base/fork_lock.hpp"

#include <pthread.h>

#include <array>
#include <cstddef>
#include <new>
#include <thread>

namespace oriel::base {

namespace {

constexpr std::size_t kMutexes = static_cast<std::size_t>(ForkLock::count);
constexpr std::size_t kSpinSets = static_cast<std::size_t>(SpinSet::count);
constexpr std::size_t kSpinLocks = 64;  // spin locks per set; a power of two
constexpr int kSpins = 100;             // spins before the thread yields to the holder, which may not be running

/// An address that identifies this thread; it stays the same in a forked child.
const void* this_thread() noexcept {
  thread_local const char here = 0;
  return &here;
}

struct alignas(64) SpinLock {
  std::atomic_flag flag;
};

// constinit and without destructors: static tensors use these locks before and after main.
constinit std::array<ForkMutex, kMutexes> mutexes;
constinit std::array<std::array<SpinLock, kSpinLocks>, kSpinSets> spin_locks;

// Threads that realise in a loop could keep a fork waiting for the runtime's lock for ever. While a thread forks, they
// first wait at this turnstile.
constinit std::mutex turnstile;
constinit std::atomic<bool> forking{false};
constinit bool at_turnstile = false;  // true if the forking thread holds the turnstile

void spin(std::atomic_flag& flag) noexcept {
  for (int k = 0; flag.test_and_set(std::memory_order_acquire); ++k)
    if (k >= kSpins) std::this_thread::yield();
}

void before_fork() {
  // A thread that forks from inside a realize skips the turnstile: another forking thread may hold it and wait for this
  // realize to end.
  const bool inside = fork_mutex(ForkLock::runtime).owned();
  if (!inside) {
    turnstile.lock();
    forking.store(true, std::memory_order_relaxed);
  }
  for (ForkMutex& mutex : mutexes) mutex.acquire();
  if (!inside) at_turnstile = true;
  for (auto& set : spin_locks)
    for (SpinLock& lock : set) spin(lock.flag);
}

void after_fork() {
  for (auto& set : spin_locks)
    for (SpinLock& lock : set) lock.flag.clear(std::memory_order_release);
  const bool leave = at_turnstile;
  at_turnstile = false;
  for (std::size_t k = kMutexes; k-- > 0;) mutexes[k].unlock();
  if (!leave) return;
  forking.store(false, std::memory_order_relaxed);
  turnstile.unlock();
}

void after_fork_in_child() {
  // Another thread may have held the turnstile to fork. That thread does not exist in the child.
  if (!at_turnstile) {
    forking.store(false, std::memory_order_relaxed);
    new (&turnstile) std::mutex;
  }
  after_fork();
}

const int registered = pthread_atfork(before_fork, after_fork, after_fork_in_child);

}  // namespace

void ForkMutex::lock() {
  if (forking.load(std::memory_order_relaxed) && this == &fork_mutex(ForkLock::runtime) && !owned()) {
    const std::lock_guard pass(turnstile);
  }
  acquire();
}

bool ForkMutex::owned() const noexcept { return owner_.load(std::memory_order_relaxed) == this_thread(); }

void ForkMutex::acquire() {
  if (owned()) {
    ++depth_;
    return;
  }
  mutex_.lock();
  owner_.store(this_thread(), std::memory_order_relaxed);
  depth_ = 1;
}

void ForkMutex::unlock() {
  if (--depth_ > 0) return;
  owner_.store(nullptr, std::memory_order_relaxed);
  mutex_.unlock();
}

ForkMutex& fork_mutex(ForkLock which) noexcept {
  static_cast<void>(registered);
  return mutexes[static_cast<std::size_t>(which)];
}

SpinGuard::SpinGuard(SpinSet set, const void* object) noexcept
    : flag_(spin_locks[static_cast<std::size_t>(set)]
                      [static_cast<std::size_t>(reinterpret_cast<std::uintptr_t>(object) * 0x9e3779b97f4a7c15ULL >> 58)]
                          .flag) {
  spin(flag_);
}

}  // namespace oriel::base
