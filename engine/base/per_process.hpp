// An object that each process creates for itself at first use.
#pragma once

#include <unistd.h>

#include <atomic>
#include <memory>
#include <mutex>

namespace oriel::base {

/// A forked child has its parent's memory but none of its threads. Whatever another thread had locked or half built
/// stays so for ever. So the child ignores the parent's object and creates its own.
///
/// Thread safety: any thread.
template <class T>
class PerProcess {
 public:
  constexpr PerProcess() = default;
  PerProcess(const PerProcess&) = delete;
  /// Does not destroy a parent's object: the parent's threads may have been using it.
  ~PerProcess() {
    Slot* const slot = slot_.load();
    if (slot != nullptr && slot->process == getpid()) delete slot;
  }

  /// This process's object. The first call creates it with `make`, which returns a unique_ptr; other threads wait for
  /// that. If `make` throws, the exception propagates and the next call tries again.
  template <class Make>
  T& get(const Make& make) {
    Slot* slot = slot_.load(std::memory_order_acquire);
    if (slot == nullptr || slot->process != getpid()) {
      auto fresh = std::make_unique<Slot>();
      fresh->process = getpid();
      // If another thread was faster, `slot` is its object.
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

/// A PerProcess that is never destroyed: statics may need the object while the process ends. For namespace scope, as
/// constinit: a static of a function has a lock while it is made, which a fork may leave locked in the child.
template <class T>
class PerProcessForever {
 public:
  constexpr PerProcessForever() noexcept : object_() {}
  PerProcessForever(const PerProcessForever&) = delete;
  ~PerProcessForever() {}  // NOLINT(modernize-use-equals-default): a union's member is not destroyed
  template <class Make>
  T& get(const Make& make) {
    return object_.get(make);
  }

 private:
  union {
    PerProcess<T> object_;
  };
};

}  // namespace oriel::base
