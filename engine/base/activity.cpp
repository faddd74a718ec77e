#include "base/activity.hpp"

#include <chrono>
#include <thread>

#include "base/fork_lock.hpp"

namespace oriel::base {

namespace {

constexpr std::uint64_t kTaken = 1;
constexpr std::uint64_t kNext = std::uint64_t{2} * Activity::kMost;  // added to a number to make the slot's next number
static_assert((Activity::kMost & (Activity::kMost - 1)) == 0);

std::atomic<std::uint32_t> forks{0};  // threads between before_fork and after_fork
std::atomic<std::uint32_t> threads{0};

/// Waits a little longer each time, for ends that are not announced.
class Patience {
 public:
  void wait() noexcept {
    if (++rounds_ < 64)
      std::this_thread::yield();
    else
      std::this_thread::sleep_for(std::chrono::microseconds(50));
  }

 private:
  int rounds_ = 0;
};

/// The data that each thread has.
struct PerThread {
  int usual_slot = -1;  // the slot that it tries first
};
thread_local constinit PerThread per_thread;

}  // namespace

// Nothing here has a constructor or destructor that runs, because static tensors use it before main and after it.
constinit Activity::Slot Activity::slots[Activity::kMost];

const void* this_thread() noexcept { return &per_thread; }

int thread_stripe() noexcept {
  int& usual = per_thread.usual_slot;
  if (usual < 0)
    usual = static_cast<int>(threads.fetch_add(1, std::memory_order_relaxed) % static_cast<unsigned>(Activity::kMost));
  return usual;
}

Activity::Activity() noexcept {
  take();
  // The forking thread raises `forks`, then looks for taken slots. This thread took a slot, then looks at `forks`. So
  // at least one of them sees the other. Work inside other work of this thread does not wait, or the fork would wait
  // for it for ever.
  while (forks.load() != 0) {
    const int taken = slot_;
    slots[taken].owner.store(nullptr, std::memory_order_relaxed);
    if (in_this_thread()) {
      slots[taken].owner.store(this_thread(), std::memory_order_relaxed);
      return;
    }
    slots[taken].number.store(number_ & ~kTaken);
    for (std::uint32_t seen = forks.load(); seen != 0; seen = forks.load()) forks.wait(seen);
    take();
  }
}

Activity::~Activity() {
  Slot& slot = slots[slot_];
  slot.owner.store(nullptr, std::memory_order_relaxed);
  slot.number.store(number_ & ~kTaken);
  tell_waiters();
}

void Activity::take() noexcept {
  PerThread& here = per_thread;
  static_cast<void>(thread_stripe());
  int& usual = here.usual_slot;
  Patience patience;
  for (int tried = 0, k = usual;; k = (k + 1) % kMost) {
    std::uint64_t free = slots[k].number.load(std::memory_order_relaxed);
    // The number of a slot that was never used does not contain the slot's index yet.
    const std::uint64_t number = ((free / kNext + 1) * kNext) | static_cast<std::uint64_t>(k) << 1 | kTaken;
    if ((free & kTaken) == 0 && slots[k].number.compare_exchange_strong(free, number)) {
      slots[k].owner.store(&here, std::memory_order_relaxed);
      // Work inside other work of this thread leaves the usual slot to the outer work.
      if (tried > 0 && slots[usual].owner.load(std::memory_order_relaxed) != &here) usual = k;
      slot_ = k;
      number_ = number;
      return;
    }
    if (++tried % kMost == 0) patience.wait();
  }
}

void Activity::renumber() noexcept {
  number_ += kNext;
  slots[slot_].number.store(number_);
  tell_waiters();
}

void Activity::tell_waiters() noexcept {
  // A waiter counts itself, then reads the number. This thread changed the number, then looks for waiters. So no waiter
  // is missed.
  Slot& slot = slots[slot_];
  if (slot.waiters.load() == 0) return;
  slot.ends.fetch_add(1);
  slot.ends.notify_all();
}

void Activity::wait_for_end(std::uint64_t number) noexcept {
  Slot& slot = slots[number >> 1 & (kMost - 1)];
  slot.waiters.fetch_add(1);
  for (;;) {
    const std::uint32_t seen = slot.ends.load();
    if (slot.number.load() != number) break;
    slot.ends.wait(seen);
  }
  slot.waiters.fetch_sub(1);
}

void Activity::wait_for_others() noexcept {
  const void* const here = this_thread();
  for (Slot& slot : slots) {
    const std::uint64_t number = slot.number.load();
    if ((number & kTaken) != 0 && slot.owner.load(std::memory_order_relaxed) != here) wait_for_end(number);
  }
}

bool Activity::in_this_thread() noexcept {
  const void* const here = this_thread();
  for (const Slot& slot : slots)
    if (slot.owner.load(std::memory_order_relaxed) == here) return true;
  return false;
}

void Activity::AwaitsTurn::mark(bool on) noexcept {
  const void* const here = this_thread();
  for (Slot& slot : slots)
    if (slot.owner.load(std::memory_order_relaxed) == here) slot.awaits_turn.store(on);
}

void Activity::before_fork() noexcept {
  const void* const here = this_thread();
  forks.fetch_add(1);
  // Two threads that fork inside their work would wait for each other. So work whose thread is about to fork is not
  // waited for.
  for (Slot& slot : slots)
    if (slot.owner.load(std::memory_order_relaxed) == here) slot.forks.store(true);
  const bool inside = in_this_thread();
  const bool turn = inside && fork_mutex(ForkLock::lines).owned();
  for (Slot& slot : slots) {
    Patience patience;
    while ((slot.number.load() & kTaken) != 0 && slot.owner.load(std::memory_order_relaxed) != here &&
           !(inside && slot.forks.load()) && !(turn && slot.awaits_turn.load()))
      patience.wait();
  }
}

void Activity::after_fork_in_parent() noexcept {
  const void* const here = this_thread();
  for (Slot& slot : slots)
    if (slot.owner.load(std::memory_order_relaxed) == here) slot.forks.store(false);
  if (forks.fetch_sub(1) == 1) forks.notify_all();
}

void Activity::after_fork_in_child() noexcept {
  const void* const here = this_thread();
  for (Slot& slot : slots) {
    slot.waiters.store(0, std::memory_order_relaxed);
    const bool taken = (slot.number.load() & kTaken) != 0;
    if (taken && slot.owner.load(std::memory_order_relaxed) != here) {
      // The child does not have this thread. Its work has ended, and its scratch is left alone.
      slot.number.fetch_add(kNext);
      slot.owner.store(nullptr, std::memory_order_relaxed);
    }
    slot.forks.store(false);
    slot.awaits_turn.store(false);
  }
  forks.store(0);
}

}  // namespace oriel::base
