// Pieces of work that run at the same time. A fork waits until they end.
#pragma once

#include <atomic>
#include <cstdint>

namespace oriel::base {

/// One piece of work of this thread, under way while the object lives. Its number is unique among all work of the
/// process. So a mark that holds the number is known to be stale once the work has ended. A fork waits for all work in
/// other threads to end. Work that begins during a fork waits for the fork.
///
/// Beginning and ending cost one atomic exchange each, on memory that other threads rarely use.
///
/// Thread safety: an Activity belongs to the thread that made it; the static members may be called from any thread.
class Activity {
 public:
  /// The most pieces of work under way at once. Further ones wait until one ends.
  static constexpr int kMost = 64;

  Activity() noexcept;
  ~Activity();
  Activity(const Activity&) = delete;
  Activity& operator=(const Activity&) = delete;

  /// Odd, so never 0.
  std::uint64_t number() const noexcept { return number_; }
  /// From 0 to kMost - 1. No other work under way has the same slot. A thread gets the same slot every time if
  /// possible.
  int slot() const noexcept { return slot_; }
  /// Gives the work a new number: marks with the old one become stale.
  void renumber() noexcept;

  /// Is the work with this number still under way? No work has the number 0, nor any other even number: a slot that was
  /// never used holds 0, too.
  static bool under_way(std::uint64_t number) noexcept {
    return (number & 1) != 0 && slots[number >> 1 & (kMost - 1)].number.load(std::memory_order_acquire) == number;
  }
  /// Returns after the work has ended or was renumbered. It must not be work of this thread.
  static void wait_for_end(std::uint64_t number) noexcept;
  /// Returns after all work that was under way in other threads has ended.
  static void wait_for_others() noexcept;
  /// Does this thread have work under way?
  static bool in_this_thread() noexcept;

  /// While it lives, this thread waits, in the middle of its work, for its turn to say a debug line (fork_lock.hpp).
  /// The thread whose turn it is may fork without waiting for this work.
  class AwaitsTurn {
   public:
    AwaitsTurn() noexcept { mark(true); }
    ~AwaitsTurn() { mark(false); }
    AwaitsTurn(const AwaitsTurn&) = delete;

   private:
    static void mark(bool on) noexcept;
  };

  // For fork_lock.cpp. Between before_fork and after_fork_* no work is under way in other threads, with two exceptions:
  // work whose thread is itself about to fork, and work whose thread waits for this thread's debug line. Such work
  // stands still. In the child it counts as ended, and what it was writing may be half written.
  static void before_fork() noexcept;
  static void after_fork_in_parent() noexcept;
  static void after_fork_in_child() noexcept;

 private:
  // Lowest bit: is the slot taken? Next six bits: the slot's index. Other bits: a counter.
  struct alignas(64) Slot {
    std::atomic<std::uint64_t> number{0};
    std::atomic<const void*> owner{nullptr};  // identifies the owner's thread
    std::atomic<bool> forks{false};           // the owner is about to fork
    std::atomic<bool> awaits_turn{false};     // the owner waits for its turn to say a debug line
    std::atomic<std::uint32_t> waiters{0};    // threads in wait_for_end
    std::atomic<std::uint32_t> ends{0};       // changes when waiters should look again
  };
  void take() noexcept;
  void tell_waiters() noexcept;

  static Slot slots[kMost];

  int slot_ = 0;
  std::uint64_t number_ = 0;
};

/// From 0 to Activity::kMost - 1. Statistics are counted per stripe, so that threads rarely write to the same memory.
/// Few threads share a stripe.
int thread_stripe() noexcept;

/// An address that identifies this thread. It is the same in a forked child.
const void* this_thread() noexcept;

}  // namespace oriel::base
