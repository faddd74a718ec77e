// Something that each process has its own of, made at first use.
#pragma once

#include <unistd.h>

#include <atomic>
#include <memory>
#include <mutex>

namespace oriel::base {

/// A forked child has its parent's memory and none of its threads: what one of these had locked, or was about to make,
/// stays so for ever. Here a child leaves that alone and makes its own.
///
/// Thread safety: any thread.
template <class T>
class PerProcess {
 public:
  PerProcess() = default;
  PerProcess(const PerProcess&) = delete;
  /// A parent's is not destroyed: its threads may have been at work on it.
  ~PerProcess() {
    Slot* const slot = slot_.load();
    if (slot != nullptr && slot->process == getpid()) delete slot;
  }

  /// This process's, made by `make` (a unique_ptr) at the first call; others wait for that. What `make` throws is
  /// thrown here, and the next call tries again.
  template <class Make>
  T& get(const Make& make) {
    Slot* slot = slot_.load(std::memory_order_acquire);
    if (slot == nullptr || slot->process != getpid()) {
      auto fresh = std::make_unique<Slot>();
      fresh->process = getpid();
      // Another thread may be quicker; then `slot` is what it put there.
      if (slot_.compare_exchange_strong(slot, fresh.get())) slot = fresh.release();
    }
    const std::lock_guard lock(slot->guard);
    if (slot->made == nullptr) slot->made = make();
    return *slot->made;
  }

 private:
  struct Slot {
    pid_t process = 0;
    std::mutex guard;
    std::unique_ptr<T> made;
  };
  std::atomic<Slot*> slot_{nullptr};
};

}  // namespace oriel::base
