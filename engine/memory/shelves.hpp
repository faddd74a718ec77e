// Small blocks kept outside the pool, so that threads that run small kernels do not all write to one pool.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "base/activity.hpp"
#include "memory/size_class.hpp"

namespace oriel::mem {

using PoolClock = std::chrono::steady_clock;

/// A freed block first goes to the shelf of its thread, which few other threads share. Thread safety: every member may
/// be called from any thread.
class Shelves {
 public:
  struct Block {
    void* data = nullptr;
    std::size_t size_class = 0;
    PoolClock::time_point since;  // when it was freed
  };

  /// The bytes of all shelves when they are full.
  static constexpr std::size_t most_bytes() { return kShelves * kBlocks * (kLargest + kSlack); }

  /// Switches shelves on or off. Off means that no block is put there any more; blocks that are there stay.
  void use(bool on) noexcept { used_ = on; }
  bool used() const noexcept { return used_.load(std::memory_order_relaxed); }

  /// A block of the class from the calling thread's shelf, or null.
  void* take(const SizeClass& size) noexcept;
  /// Returns false if the block is too large, the shelf is full, or shelves are off.
  bool put(void* data, const SizeClass& size, PoolClock::time_point now) noexcept;

  /// Takes a block from shelf number `shelf`, or from the next shelf that has one, and sets `shelf` to it. Returns
  /// false after the last shelf.
  bool take_from(std::size_t& shelf, Block& block) noexcept;

  struct Totals {
    std::uint64_t requests = 0;  // requests that a shelf met
    std::size_t bytes = 0;
  };
  Totals totals() const noexcept;

 private:
  static constexpr std::size_t kLargest = std::size_t{16} << 10;  // of a block, without its padding
  static constexpr std::size_t kBlocks = 8;                       // blocks of a shelf
  static constexpr std::size_t kShelves = base::Activity::kMost;

  struct alignas(64) Shelf {
    std::size_t blocks = 0;
    std::uint64_t requests = 0;
    std::array<std::uint16_t, kBlocks> sizes{};
    std::array<void*, kBlocks> data{};
    std::array<PoolClock::time_point, kBlocks> since{};
  };

  Shelf& own() noexcept { return shelves_[static_cast<std::size_t>(base::thread_stripe())]; }

  alignas(64) std::array<Shelf, kShelves> shelves_;
  alignas(64) std::atomic<bool> used_{false};
};

}  // namespace oriel::mem
