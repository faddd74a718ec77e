// Locks that fork() acquires first, so that the child finds consistent data and no lock held by a thread that it does
// not have.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace oriel::base {

/// Every lock that guards what a child goes on using. (What a child makes anew, it makes through PerProcess.) A fork
/// first waits for work that is under way (activity.hpp), then takes them in this order, so a thread that holds one may
/// wait only for a later one, and for no work.
enum class ForkLock : std::uint8_t {
  lines,        // a debug line on its way into the sink, which may call the library
  contexts,     // which contexts there are, and what they have made
  definitions,  // comprehensions that were compiled before
  profile,      // what a profile has gathered
  dump,         // where dumps go
  backends,     // which devices are open
  schedules,    // schedules by their keys
  kernels,      // kernels by their programs
  tuners,       // the background threads that have kernels built
  units,        // loading a compiled unit, and giving its functions to kernels
  settings,     // reading the environment for the first time
  debug,        // debug levels
  sink,         // the sink of debug lines
  host_memory,  // the pool of released blocks
  count
};

/// A mutex that its owner may lock again. Unlike std::recursive_mutex it can be unlocked in a forked child by the
/// thread that forked: glibc's recursive mutexes know their owner by a number that differs there.
class alignas(64) ForkMutex {
 public:
  constexpr ForkMutex() noexcept = default;
  ForkMutex(const ForkMutex&) = delete;
  ForkMutex& operator=(const ForkMutex&) = delete;

  void lock();
  void unlock();
  bool owned() const noexcept;

 private:
  std::mutex mutex_;
  std::atomic<const void*> owner_{nullptr};  // an address that is unique to the owner's thread
  int depth_ = 0;                            // how often the owner has locked it
};

/// A mutex of the process; of what each context has of its own, one for each of a few contexts.
ForkMutex& fork_mutex(ForkLock which, std::size_t context = 0) noexcept;

/// The objects whose short critical sections share one set of spin locks, chosen by the object's address.
enum class SpinSet : std::uint8_t { cells, nodes, shelves, count };

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
