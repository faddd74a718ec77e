// Locks that fork() acquires first, so that the child finds consistent data and no lock held by a thread that it does
// not have.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace oriel::base {

/// All locks that guard data which a forked child continues to use. (PerProcess makes data anew in the child.) A fork
/// first waits for work that is under way (activity.hpp), then takes the locks in this order. So a thread that holds
/// one may only wait for a later one, and must not wait for work.
enum class ForkLock : std::uint8_t {
  lines,        // a debug line that is being passed to the sink; the sink may call the library
  contexts,     // the list of contexts and the parts that they have made
  definitions,  // compiled comprehensions
  profile,      // what a context's profile has recorded
  dump,         // a context's directory of dumps
  backends,     // the open devices
  schedules,    // schedules by their keys
  kernels,      // kernels by their programs
  sources,      // sources that serve many sizes, and the expressions of sizes that are made for them
  tuners,       // the background threads that compile kernels
  units,        // loading a compiled unit and giving its functions to kernels
  settings,     // reading the environment for the first time; settings that are more than a number
  debug,        // debug levels
  sink,         // the sinks of debug lines and of warnings
  host_memory,  // the pool of released blocks
  numbers,      // sizes that are kept beside a SymInt
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

/// A mutex of the process. Data that each context has is guarded by one of a few mutexes, chosen by `context`.
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
