#include "memory/host.hpp"

#include <atomic>
#include <chrono>
#include <cstring>
#include <mutex>
#include <string>

#include "base/fork_lock.hpp"
#include "memory/machine.hpp"
#include "memory/shelves.hpp"
#include "memory/size_class.hpp"
#include "memory/waiting_blocks.hpp"
#include "oriel/error.hpp"

namespace oriel::mem {
namespace {

using Clock = PoolClock;

// The bytes handed out. All threads write to these, so they have a cache line of their own.
class alignas(64) LiveBytes {
 public:
  void add(std::size_t bytes) {
    const std::size_t live = live_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    std::size_t peak = peak_.load(std::memory_order_relaxed);
    while (live > peak && !peak_.compare_exchange_weak(peak, live, std::memory_order_relaxed)) continue;
  }
  void subtract(std::size_t bytes) noexcept { live_.fetch_sub(bytes, std::memory_order_relaxed); }
  std::size_t now() const { return live_.load(std::memory_order_relaxed); }
  std::size_t peak() const { return peak_.load(std::memory_order_relaxed); }
  void reset_peak() { peak_.store(now(), std::memory_order_relaxed); }

 private:
  std::atomic<std::size_t> live_{0};
  std::atomic<std::size_t> peak_{0};
};

// When the pool is next swept. The pool's time is the clock's time plus what pass_time() added. All threads may ask
// whether a sweep is due; the rest is guarded by the pool's lock.
class alignas(64) SweepTimes {
 public:
  bool due(Clock::time_point clock) const noexcept { return clock >= next_look_.load(std::memory_order_relaxed); }
  Clock::time_point next_sweep() const noexcept { return next_sweep_; }
  // The pool's time at this time of the clock.
  Clock::time_point of(Clock::time_point clock) const noexcept { return clock + passed_; }
  void sweep_at(Clock::time_point time) noexcept {
    next_sweep_ = time;
    next_look_.store(time == Clock::time_point{} ? time : time - passed_, std::memory_order_relaxed);
  }
  void never_due() noexcept { next_look_.store(Clock::time_point::max(), std::memory_order_relaxed); }
  void pass(Clock::duration time) noexcept { passed_ += time; }

 private:
  std::atomic<Clock::time_point> next_look_{Clock::time_point{}};  // time of the next sweep
  Clock::time_point next_sweep_;
  Clock::duration passed_{};
};

class PooledHostAllocator final : public HostAllocator {
 public:
  PooledHostAllocator(const MemoryOptions& options, Device device) : device_(device), options_(options) {
    use_shelves();
  }
  ~PooledHostAllocator() override { trim(0); }

  Device device() const override { return device_; }

  void* allocate(std::size_t bytes) override {
    // The machine does not have this much, but the system might promise it.
    if (bytes > kLargestBlock || bytes > machine_) refuse(bytes);
    const SizeClass size = class_of(bytes);
    if (void* data = shelves_.take(size); data != nullptr) {
      live_.add(size.bytes);
      return data;
    }
    HugePages pages{};
    {
      const std::lock_guard lock(guard());
      ++counts_.requests;
      pages = options_.huge_pages;
      if (void* data = blocks_.take(size); data != nullptr) {
        live_.add(size.bytes);
        return data;
      }
    }
    void* data = system_.allocate(size.bytes, pages);
    if (data == nullptr) {
      trim(0);
      data = system_.allocate(size.bytes, pages);
    }
    if (data == nullptr) refuse(bytes);
    const std::lock_guard lock(guard());
    ++counts_.system_allocations;
    live_.add(size.bytes);
    return data;
  }

  void release(void* data, std::size_t bytes) noexcept override {
    if (data == nullptr) return;
    const SizeClass size = class_of(bytes);
    const Clock::time_point clock = Clock::now();
    live_.subtract(size.bytes);
    if (!times_.due(clock) && shelves_.put(data, size, clock)) return;
    const std::lock_guard lock(guard());
    const Clock::time_point time = times_.of(clock);
    const std::size_t shelved = shelves_.used() ? Shelves::most_bytes() : 0;
    const bool fits = blocks_.bytes() + size.bytes + shelved <= options_.pool_bytes;
    if (!fits || !blocks_.put(data, size.index, time)) system_.free(data, size.bytes);
    sweep(time);
  }

  void read(const void* data, void* host, std::size_t bytes) override {
    if (bytes > 0) std::memcpy(host, data, bytes);
  }
  void write(void* data, const void* host, std::size_t bytes) override {
    if (bytes > 0) std::memcpy(data, host, bytes);
  }

  MemoryStatistics statistics() const override {
    const std::lock_guard lock(guard());
    MemoryStatistics all = counts_;
    const Shelves::Totals shelved = shelves_.totals();
    all.requests += shelved.requests;
    all.pooled = blocks_.bytes() + shelved.bytes;
    all.live = live_.now();
    all.peak = live_.peak();
    return all;
  }

  void trim(std::size_t keep) override {
    const std::lock_guard lock(guard());
    clear_shelves();
    blocks_.free_down_to(keep);
  }

  MemoryOptions options() const override {
    const std::lock_guard lock(guard());
    return options_;
  }

  void set_options(const MemoryOptions& options) override {
    {
      const std::lock_guard lock(guard());
      options_ = options;
      clear_shelves();
      use_shelves();
      times_.sweep_at({});
      sweep(times_.of(Clock::now()));
    }
    trim(options.pool_bytes);
  }

  void pass_time(double seconds) override {
    const std::lock_guard lock(guard());
    clear_shelves();  // before the time passes
    times_.sweep_at({});
    times_.pass(std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds)));
  }

  void reset_peak() override { live_.reset_peak(); }

 private:
  base::ForkMutex& guard() const { return base::fork_mutex(base::ForkLock::host_memory, device_.context); }

  // Precondition: the lock is held.
  void sweep(Clock::time_point time) noexcept {
    if (options_.pool_seconds <= 0) times_.never_due();
    if (options_.pool_seconds <= 0 || time < times_.next_sweep()) return;
    const auto age = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options_.pool_seconds));
    times_.sweep_at(time + age / 4);
    clear_shelves();
    blocks_.free_older(time - age);
  }

  [[noreturn]] void refuse(std::size_t bytes) const {
    throw MemoryError("allocate", "no memory for " + std::to_string(bytes) + " bytes on " + device_.str() +
                                      "; the machine has " + std::to_string(machine_) + ", of which " +
                                      std::to_string(statistics().live) + " are in use here");
  }

  // Shelves are off if the pool is small, because the pool's limit does not bound them.
  void use_shelves() noexcept { shelves_.use(options_.pool_bytes >= 4 * Shelves::most_bytes()); }

  // Moves the blocks of all shelves into the pool. Precondition: the lock is held.
  void clear_shelves() noexcept {
    std::size_t shelf = 0;
    for (Shelves::Block shelved; shelves_.take_from(shelf, shelved);) {
      if (!blocks_.put(shelved.data, shelved.size_class, times_.of(shelved.since)))
        system_.free(shelved.data, class_bytes(shelved.size_class));
    }
  }

  const Device device_;
  const std::size_t machine_ = machine_memory();
  LiveBytes live_;
  SweepTimes times_;
  Shelves shelves_;
  SystemMemory system_{guard()};
  WaitingBlocks blocks_{system_};
  MemoryStatistics counts_;
  MemoryOptions options_;
};

}  // namespace

std::shared_ptr<HostAllocator> host_allocator() {
  // Never destroyed: static tensors may release their buffers at the very end of the process. So the
  // pointer need not count its holders, which would make all threads write to one counter.
  static HostAllocator* const allocator = new PooledHostAllocator(options_from_environment(), Device::eigen());
  return {std::shared_ptr<void>(), allocator};
}

std::shared_ptr<HostAllocator> make_host_allocator(const MemoryOptions& options, Device device) {
  return std::make_shared<PooledHostAllocator>(options, device);
}

}  // namespace oriel::mem
