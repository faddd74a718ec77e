// Locks that fork() acquires first, so that the child finds consistent data and no lock held by a thread that it does
// not have.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

namespace oriel::base {

/// Every lock that guards data which a child continues to use. (PerProcess holds data that a child creates anew.) A
/// fork acquires the locks in this order, so a thread that holds one may wait only for a later one.
enum class ForkLock : std::uint8_t {
  runtime,      // planning and running (runtime/executor.hpp)
  definitions,  // the cache of compiled comprehensions
  profile,      // the launches that a profile has recorded
  dump,         // the dump directory
  opencl,       // the list of open OpenCL devices
  tuners,       // the background threads that compile kernels
  units,        // loading a compiled unit and assigning its functions to kernels
  settings,     // reading the environment for the first time
  debug,        // debug levels
  sink,         // the sink of debug lines
  host_memory,  // the pool of released blocks
  count
};

/// A recursive mutex that the forking thread can unlock in the child. std::recursive_mutex cannot: glibc stores the
/// owner as a thread id, which differs in the child.
class ForkMutex {
 public:
  constexpr ForkMutex() noexcept = default;
  ForkMutex(const ForkMutex&) = delete;
  ForkMutex& operator=(const ForkMutex&) = delete;

  void lock();
  /// As lock, but does not wait for a pending fork first.
  void acquire();
  void unlock();
  bool owned() const noexcept;

 private:
  std::mutex mutex_;
  std::atomic<const void*> owner_{nullptr};  // an address that is unique to the owner's thread
  int depth_ = 0;                            // how often the owner has locked it
};

/// The process's mutex of this name. A thread that asks for the runtime's lock waits until a pending fork is done.
ForkMutex& fork_mutex(ForkLock which) noexcept;

/// The objects whose short critical sections share one set of spin locks, chosen by the object's address.
enum class SpinSet : std::uint8_t { cells, nodes, count };

/// Holds the spin lock of an object. While a thread holds one, it must take no other lock and call no foreign code.
class SpinGuard {
 public:
  SpinGuard(SpinSet set, const void* object) noexcept;
  ~SpinGuard() { flag_.clear(std::memory_order_release); }
  SpinGuard(const SpinGuard&) = delete;
  SpinGuard& operator=(const SpinGuard&) = delete;

 private:
  std::atomic_flag& flag_;
};

}  // namespace oriel::base
