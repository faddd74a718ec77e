// Pieces of work that run at the same time, and that a fork waits for.
#pragma once

#include <atomic>
#include <cstdint>

namespace oriel::base {

/// One piece of work of this thread, under way while the object lives. It has a number that no other piece of work in
/// this process ever has, so that what it marks with the number is known to be free again once the work has ended. A
/// fork waits for the end of all work in other threads; work that begins meanwhile waits for the fork.
///
/// Beginning and ending cost one atomic exchange each on memory that no other thread uses as a rule.
///
/// Thread safety: an Activity belongs to the thread that made it; the static members may be called from any thread.
class Activity {
 public:
  /// The most pieces of work that are under way at once; more wait for one of them to end.
  static constexpr int kMost = 64;

  Activity() noexcept;
  ~Activity();
  Activity(const Activity&) = delete;
  Activity& operator=(const Activity&) = delete;

  /// Odd, so never 0.
  std::uint64_t number() const noexcept { return number_; }
  /// From 0 to kMost - 1: no other piece of work has the same one at the same time. A thread gets the same one again
  /// and again where it can.
  int slot() const noexcept { return slot_; }
  /// From now on the work has another number: what was marked with the old one is free.
  void renumber() noexcept;

  /// Has the work of this number not ended yet?
  static bool under_way(std::uint64_t number) noexcept {
    return slots[number >> 1 & (kMost - 1)].number.load(std::memory_order_acquire) == number;
  }
  /// Returns once the work has ended, or has been renumbered. It must not be this thread's.
  static void wait_for_end(std::uint64_t number) noexcept;
  /// Returns once all work has ended that was under way in other threads.
  static void wait_for_others() noexcept;
  /// Has this thread work under way?
  static bool in_this_thread() noexcept;

  /// While it lives, this thread waits for its turn with a line (fork_lock.hpp) in the middle of its work: whoever has
  /// the turn may fork.
  class AwaitsTurn {
   public:
    AwaitsTurn() noexcept { mark(true); }
    ~AwaitsTurn() { mark(false); }
    AwaitsTurn(const AwaitsTurn&) = delete;

   private:
    static void mark(bool on) noexcept;
  };

  // For fork_lock.cpp. Between the first and the second no work is under way in other threads, but for work that
  // stands still because its thread is about to fork itself, or waits for this thread's line: in the child its number
  // has ended, and what it was writing may be written in part.
  static void before_fork() noexcept;
  static void after_fork_in_parent() noexcept;
  static void after_fork_in_child() noexcept;

 private:
  // The lowest bit says whether the slot is taken, the next six its index, the others count.
  struct alignas(64) Slot {
    std::atomic<std::uint64_t> number{0};
    std::atomic<const void*> owner{nullptr};  // something that the thread has one of
    std::atomic<bool> forks{false};           // the owner is about to fork
    std::atomic<bool> awaits_turn{false};     // it waits for its turn with a line
    std::atomic<std::uint32_t> waiters{0};    // threads in wait_for_end
    std::atomic<std::uint32_t> ends{0};       // what they wait on
  };
  void take() noexcept;
  void tell_waiters() noexcept;

  static Slot slots[kMost];

  int slot_ = 0;
  std::uint64_t number_ = 0;
};

/// From 0 to Activity::kMost - 1: where this thread counts what would otherwise be counted in one place that all
/// threads write to. Few threads share one.
int thread_stripe() noexcept;

/// Something of this thread whose address no other thread has, and which is the same in a forked child.
const void* this_thread() noexcept;

}  // namespace oriel::base
