// Memory that the system gives, and blocks of it that wait to be used again.
#pragma once

#include <array>
#include <cstddef>
#include <unordered_set>
#include <vector>

#include "base/fork_lock.hpp"
#include "memory/host.hpp"
#include "memory/shelves.hpp"
#include "memory/size_class.hpp"

namespace oriel::mem {

/// Memory of the system, for one allocator.
class SystemMemory {
 public:
  /// `guard`: the allocator's lock.
  explicit SystemMemory(base::ForkMutex& guard) : guard_(guard) {}
  /// Null if the system has none. Precondition: the lock is not held.
  void* allocate(std::size_t bytes, HugePages pages);
  /// Precondition: the lock is held.
  void free(void* data, std::size_t bytes) noexcept;

 private:
  base::ForkMutex& guard_;
  std::unordered_set<void*> reserved_;  // blocks of huge pages that the administrator has reserved
};

/// Released blocks by class. Each class has its oldest block in front, because the newest is handed out first.
/// Precondition of all functions: the allocator's lock is held.
class WaitingBlocks {
 public:
  explicit WaitingBlocks(SystemMemory& system) : system_(system) {}

  std::size_t bytes() const noexcept { return bytes_; }
  /// The newest block of the class; null if there is none.
  void* take(const SizeClass& size) noexcept;
  /// Keeps a block that was released at `since`. Returns false if there is no memory for the bookkeeping.
  bool put(void* data, std::size_t size_class, PoolClock::time_point since) noexcept;
  /// Gives the blocks that were released before this time back to the system.
  void free_older(PoolClock::time_point since) noexcept;
  /// Gives blocks back until at most `keep` bytes wait.
  void free_down_to(std::size_t keep) noexcept;

 private:
  struct Block {
    void* data;
    PoolClock::time_point since;
  };
  void free(const Block& block, std::size_t size_class) noexcept;

  SystemMemory& system_;
  std::size_t bytes_ = 0;
  std::array<std::vector<Block>, kClasses + kClassesPerDoubling> blocks_;
};

}  // namespace oriel::mem
